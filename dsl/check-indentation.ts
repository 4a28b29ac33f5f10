/**
 * Tabs in indentation: found before YAML is parsed, because a parser reports their consequences instead.
 * Owns that one check; lines inside block text keep their tabs, since only the leading spaces are indentation there.
 */
import type { Report } from './report.ts';

/** A key whose value is block text (`|` or `>`), which may hold tabs as content. */
const BLOCK_HEADER = /(?:^|[\s:-])[|>][+-]?\d?[+-]?\s*(?:#.*)?$/;

/** Adds JOB107 for the first line of each run of lines that a tab indents. */
export function checkIndentation(report: Report): void {
  let blockIndent: number | null = null;
  let inRun = false;
  for (let line = 1; line <= report.lines.lineCount; line++) {
    const text = report.lines.lineText(line);
    if (text.trim() === '') continue;
    const spaces = /^ */.exec(text)?.[0].length ?? 0;
    if (blockIndent !== null && spaces > blockIndent) continue;
    blockIndent = BLOCK_HEADER.test(text) ? spaces : null;
    const tabbed = text[spaces] === '\t' && !/^\s*#/.test(text);
    if (tabbed && !inRun) addTab(report, line, text);
    inRun = tabbed;
  }
}

function addTab(report: Report, line: number, text: string): void {
  const blank = /^\s*/.exec(text)?.[0].length ?? 0;
  const start = report.lines.lineStart(line) + text.indexOf('\t');
  report.add('JOB107', { start, end: report.lines.lineStart(line) + blank }, 'a tab indents this line', {
    remedy: 'indent with spaces: YAML gives a tab no width',
  });
}
