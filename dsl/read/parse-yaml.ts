/**
 * Text to positioned tree: YAML 1.2, core schema, nothing beyond maps, lists and scalars.
 * Owns the order: yaml-document.ts reads, explain-yaml-error.ts words what is wrong, build-tree.ts refuses what no file of ours uses.
 */
import { buildTree } from './build-tree.ts';
import { explainYamlErrors } from './explain-yaml-error.ts';
import type { Report } from '../check/report.ts';
import type { Tree } from './tree.ts';
import { DEPTH_MAX, readYamlDocument } from '../yaml-document.ts';

/** Returns null when the text has no tree that is worth checking further; the report says why. */
export function parseYaml(report: Report): Tree | null {
  if (isBlank(report.text)) {
    report.add('JOB105', { start: 0, end: 0 }, 'the file is empty', { remedy: report.language.start });
    return null;
  }
  const read = readYamlDocument(report.text);
  if (read.kind === 'too_deep') {
    const end = report.text.indexOf('\n', read.at);
    const span = { start: read.at, end: end === -1 ? report.text.length : end };
    report.add('JOB119', span, `this nests more than ${DEPTH_MAX} levels deep`);
    return null;
  }
  return explainYamlErrors(read.document, report) ? buildTree(read.document, report) : null;
}

function isBlank(text: string): boolean {
  return !/^[^\S\n]*[^\s#]/m.test(text);
}
