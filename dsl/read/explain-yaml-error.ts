/**
 * Errors of the YAML parser in words a writer can act on, at the place where the mistake was made.
 * Owns wording and place; must not parse. A parser stumbles where a mistake becomes impossible, often lines after it.
 */
import type { Document, YAMLError } from 'yaml';
import { readYamlDocument } from '../yaml-document.ts';
import { findOpening } from './find-opening.ts';
import { quote } from './quote.ts';
import type { FindingExtra, Report } from '../check/report.ts';
import type { RuleCode } from '../check/rule-catalogue.ts';
import type { Span } from './text-position.ts';

interface Explanation extends FindingExtra {
  readonly code: RuleCode;
  readonly span: Span;
  readonly message: string;
}

/** Adds what is worth saying and returns whether the tree can be trusted. Most warnings of the parser are errors here. */
export function explainYamlErrors(document: Document.Parsed, report: Report): boolean {
  const warnings = document.warnings.filter((warning) => !isAllowed(warning, report));
  const problems = [...document.errors, ...warnings].sort((a, b) => a.pos[0] - b.pos[0]);
  const first = problems.find((problem) => !isTag(problem));
  const tags = problems.filter(isTag);
  for (const tag of tags) add(report, explainTag(tag, report));
  if (first === undefined) return true;
  if (!explainTabs(report, first)) add(report, explain(first, report));
  return false;
}

/** YAML reads on after these: the name of an anchor may end with a colon, and unknown directives are passed over. */
function isAllowed({ code, pos: [start, end] }: YAMLError, report: Report): boolean {
  if (code === 'BAD_ALIAS') return true;
  if (code !== 'BAD_DIRECTIVE') return false;
  const line = lineSpan(report, report.lines.position(start).line);
  const message = 'this directive is passed over';
  const remedy = `a ${report.language.document} needs no "%" directive; remove the line`;
  report.add('JOB518', { start, end: Math.max(end, line.end) }, message, { remedy });
  return true;
}

/** Errors inside a quoted text, whose opening is not the mistake. */
const SELF_EXPLAINED: ReadonlySet<string> = new Set([
  'BAD_DQ_ESCAPE',
  'BAD_SCALAR_START',
  'MULTIPLE_DOCS',
  'TAB_AS_INDENT',
]);

function isTag(problem: YAMLError): boolean {
  return problem.code === 'TAG_RESOLVE_FAILED';
}

function add(report: Report, { code, span, message, ...extra }: Explanation): void {
  report.add(code, span, message, extra);
}

function explain(error: YAMLError, report: Report): Explanation {
  const span: Span = { start: error.pos[0], end: error.pos[1] };
  const braces = explainBraces(span, report);
  if (braces !== null) return braces;
  const opening = SELF_EXPLAINED.has(error.code) ? null : findOpening(report, error);
  if (opening !== null) return { code: 'JOB111', ...opening };
  switch (error.code) {
    case 'MULTIPLE_DOCS':
      return explainDocuments(report, span);
    case 'TAB_AS_INDENT':
      return { code: 'JOB107', span, message: 'a tab indents this line', remedy: 'indent with spaces' };
    case 'BAD_SCALAR_START':
      return explainStart(report, span);
    case 'BAD_INDENT':
      return explainIndent(report, span);
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
      return explainImplicitKey(report, span);
    case 'BAD_DQ_ESCAPE':
      return explainEscape(report, span);
    case 'BAD_DIRECTIVE':
      return {
        code: 'JOB108',
        span,
        message: lowerFirst(error.message),
        remedy: `a ${report.language.document} needs no "%" directive; remove the line`,
      };
    default:
      return explainOther(error, report, span);
  }
}

function explainBraces(span: Span, report: Report): Explanation | null {
  const line = report.lines.position(span.start).line;
  const text = report.lines.lineText(line);
  const at = /\$?\{\{/.exec(text);
  if (!at || /['"][^'"]*\{\{/.test(text)) return null;
  const start = report.lines.lineStart(line) + at.index;
  const end =
    start + (/\}\}/.test(text.slice(at.index)) ? text.slice(at.index).indexOf('}}') + 2 : at[0].length);
  const remedy = 'put the whole text in quotes, or write it as a block after |';
  return {
    code: 'JOB118',
    span: { start, end },
    message: 'YAML reads unquoted braces as a map, not as text',
    remedy,
  };
}

function explainDocuments(report: Report, span: Span): Explanation {
  const mark = report.text.indexOf('---', span.start);
  const start = mark === -1 ? span.start : mark;
  const message = `a second document starts here; one file is one ${report.language.document}`;
  return { code: 'JOB106', span: { start, end: start + 3 }, message, remedy: 'move it to a file of its own' };
}

function explainStart(report: Report, span: Span): Explanation {
  const character = report.text.slice(span.start, span.start + 1);
  const message = `a text cannot start with ${quote(character)} unless it is in quotes`;
  return { code: 'JOB112', span, message, remedy: 'put the text in quotes' };
}

function explainEscape(report: Report, span: Span): Explanation {
  const message = `${quote(report.text.slice(span.start, span.start + 2))} is not an escape of text in double quotes`;
  return { code: 'JOB108', span, message, remedy: 'write a backslash as \\\\, or use single quotes' };
}

function explainIndent(report: Report, span: Span): Explanation {
  const line = report.lines.position(span.start).line;
  const message = 'the indentation of this line fits no line above it';
  const remedy = 'keys of one map, and dashes of one list, start in the same column';
  return { code: 'JOB110', span: lineSpan(report, line), message, remedy };
}

/** Either a `:` is missing, or a value holds a second `: `, or the next line is indented as if it continued this one. */
function explainImplicitKey(report: Report, span: Span): Explanation {
  const { first, last } = contentLines(report, span);
  const text = report.lines.lineText(first);
  if (first === last && !/:\s*$/.test(text)) {
    const message = 'this value holds ": ", which YAML reads as another key';
    return { code: 'JOB112', span, message, remedy: 'put the value in quotes' };
  }
  const deeper = indentOf(report.lines.lineText(last)) > indentOf(text);
  if (deeper) {
    const message = 'this line is indented deeper than the key it follows, which already has a value';
    return {
      code: 'JOB110',
      span: lineSpan(report, last),
      message,
      remedy: 'start it in the column of the key above',
    };
  }
  return explainMissingColon(report, Math.max(first, last - 1));
}

/** The lines from the start of the error to the `:` that made it one. */
function contentLines(report: Report, span: Span): { readonly first: number; readonly last: number } {
  const first = report.lines.position(span.start).line;
  let last = first;
  while (last < report.lines.lineCount && !/:(\s|$)/.test(keyPart(report, last, first, span))) last += 1;
  return { first, last };
}

function keyPart(report: Report, line: number, first: number, span: Span): string {
  const text = report.lines.lineText(line);
  return line === first ? text.slice(span.start - report.lines.lineStart(line)) : text;
}

function explainOther(error: YAMLError, report: Report, span: Span): Explanation {
  if (/Sequence item without/.test(error.message)) return explainIndent(report, span);
  const quoted = report.text[span.start - 1] ?? '';
  if (/at node end/.test(error.message) && /["']/.test(quoted)) {
    const message = 'the quoted text ends before this';
    const remedy =
      quoted === "'"
        ? "write '' for a quote inside single quotes, or use double quotes"
        : 'write \\" for a quote inside double quotes';
    return { code: 'JOB112', span, message, remedy };
  }
  const line = report.lines.position(span.start).line;
  const text = report.lines.lineText(line).trim();
  if (/token at node end|block-seq-ind on same line|Unexpected scalar/.test(error.message)) {
    const message = 'this does not fit what stands before it';
    const remedy = text.startsWith('- ')
      ? 'a list starts on a line of its own; a text that starts with "- " needs quotes'
      : 'check the indentation, and put text with special characters in quotes';
    return { code: 'JOB108', span, message, remedy };
  }
  if (/map values/.test(error.message)) return explainMissingColon(report, line);
  return { code: 'JOB108', span, message: `the text is not YAML: ${lowerFirst(error.message)}` };
}

function explainMissingColon(report: Report, line: number): Explanation {
  const message = `${quote(report.lines.lineText(line).trim())} has no ":" between key and value`;
  return {
    code: 'JOB108',
    span: lineSpan(report, line),
    message,
    remedy: 'write "key: value", with a space after the colon',
  };
}

function explainTag(problem: YAMLError, report: Report): Explanation {
  const span: Span = { start: problem.pos[0], end: problem.pos[1] };
  const message = `${quote(report.text.slice(span.start, span.end))} is a YAML tag, which the ${report.language.document} language does not use`;
  return { code: 'JOB114', span, message, remedy: 'text that starts with "!" needs quotes' };
}

function lineSpan(report: Report, line: number): Span {
  const text = report.lines.lineText(line);
  const start = report.lines.lineStart(line) + indentOf(text);
  return { start, end: report.lines.lineStart(line) + text.trimEnd().length };
}

function indentOf(text: string): number {
  return /^ *(?:- +)*/.exec(text)?.[0].length ?? 0;
}

function lowerFirst(text: string): string {
  return text.slice(0, 1).toLowerCase() + text.slice(1);
}

/** A key whose value is block text (`|` or `>`), which may hold tabs as content. */
const BLOCK_HEADER = /(?:^|[\s:-])[|>][+-]?\d?[+-]?\s*(?:#.*)?$/;

/** Adds JOB107 for each run of lines up to the error that a tab indents; false when tabs are not what is wrong. */
function explainTabs(report: Report, error: YAMLError): boolean {
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
