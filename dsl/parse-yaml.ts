/**
 * Text to positioned tree: YAML 1.2, core schema, nothing beyond maps, lists and scalars.
 * Owns the call of the parser; explain-yaml-error.ts words its errors, build-tree.ts refuses what no file of ours uses.
 */
import { parseDocument } from 'yaml';
import type { Document } from 'yaml';

import { buildTree } from './build-tree.ts';
import { explainYamlErrors } from './explain-yaml-error.ts';
import type { Report } from './report.ts';
import type { Tree } from './tree.ts';

/** Returns null when the text has no tree that is worth checking further; the report says why. */
export function parseYaml(report: Report): Tree | null {
  if (isBlank(report.text)) {
    report.add('JOB105', { start: 0, end: 0 }, 'the file is empty', {
      remedy: report.language.start,
    });
    return null;
  }
  const document = parse(report);
  if (document === null || !explainYamlErrors(document, report)) return null;
  return buildTree(document, report);
}

/**
 * Equal keys are compared in build-tree.ts: the parser compares each with each, which a map of 100,000 keys cannot afford.
 * The parser recurses into nested collections, so absurd nesting exhausts the stack: that is a finding, too.
 */
function parse(report: Report): Document.Parsed | null {
  try {
    const options = { uniqueKeys: false, keepSourceTokens: true, prettyErrors: false, merge: false } as const;
    return parseDocument(report.text, { version: '1.2', schema: 'core', ...options });
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    report.add('JOB119', { start: 0, end: 0 }, 'the file nests too deeply to be read');
    return null;
  }
}

function isBlank(text: string): boolean {
  return !/^[^\S\n]*[^\s#]/m.test(text);
}
