/**
 * Tabs in indentation, once a text is no YAML: a parser reports their consequences, often lines below.
 * Owns whether they are the cause, and where they stand; a tab that YAML allows is never found.
 */
import type { YAMLError } from 'yaml';

import type { Report } from './check/report.ts';
import { readYamlDocument } from './yaml-document.ts';

/** A key whose value is block text (`|` or `>`), which may hold tabs as content. */
const BLOCK_HEADER = /(?:^|[\s:-])[|>][+-]?\d?[+-]?\s*(?:#.*)?$/;

/** Adds JOB107 for each run of lines up to the error that a tab indents; false when tabs are not what is wrong. */
export function explainTabs(report: Report, error: YAMLError): boolean {
  const tabs = tabbedLines(report);
  if (tabs.length === 0 || !areTabsTheCause(report, error)) return false;
  const before = tabs.filter(({ start }) => start <= error.pos[1]);
  for (const { start, end } of before.length === 0 ? tabs.slice(0, 1) : before) {
    report.add('JOB107', { start, end }, 'a tab indents this line', {
      remedy: 'indent with spaces: YAML gives a tab no width',
    });
  }
  return true;
}

/** With spaces in their place, character by character, the parser would stumble over the same thing or it would not. */
function areTabsTheCause(report: Report, error: YAMLError): boolean {
  if (error.code === 'TAB_AS_INDENT') return true;
  const spaced = report.text.replace(/^[ \t]+/gm, (blank) => ' '.repeat(blank.length));
  const read = readYamlDocument(spaced);
  if (read.kind === 'too_deep') return false;
  const [first] = [...read.document.errors, ...read.document.warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  return first?.code !== error.code || first.pos[0] !== error.pos[0];
}

function tabbedLines(report: Report): { readonly start: number; readonly end: number }[] {
  const found: { start: number; end: number }[] = [];
  let blockIndent: number | null = null;
  let inRun = false;
  for (let line = 1; line <= report.lines.lineCount; line++) {
    const text = report.lines.lineText(line);
    if (text.trim() === '') continue;
    const spaces = /^ */.exec(text)?.[0].length ?? 0;
    if (blockIndent !== null && spaces > blockIndent) continue;
    blockIndent = BLOCK_HEADER.test(text) ? spaces : null;
    const tabbed = text[spaces] === '\t' && !/^\s*#/.test(text);
    const start = report.lines.lineStart(line);
    if (tabbed && !inRun)
      found.push({ start: start + spaces, end: start + (/^\s*/.exec(text)?.[0].length ?? 0) });
    inRun = tabbed;
  }
  return found;
}
