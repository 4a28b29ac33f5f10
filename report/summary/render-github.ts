/**
 * The summary of a report as Markdown for GitHub and GitLab: a job summary, or a comment on a change.
 * Pure; owns the escaping and the bound: nothing that a job, an agent or a gateway wrote becomes markup, a link, a mention
 * or a reference, and the text fits into a comment.
 */
import { counted } from '../../core/text/counted.ts';
import type { ReportData } from '../report-data.ts';
import { oneLine, plainLine } from '../plain-text.ts';
import { fenced } from '../render-markdown.ts';
import { summaryOf, type Summary, type SummaryCheck, type SummaryLine } from './summary.ts';

/**
 * A comment of GitHub has at most 65,536 characters, some for the posting tool; a job summary has 1 MiB for all
 * commands of its step.
 */
export const GITHUB_BYTES_MAX = 60_000;
/** The tables come first, the outputs get the rest. */
const TABLE_BYTES_MAX = 40_000;
const CHECKS_BYTES_MAX = 52_000;
const FINDINGS_BYTES_MAX = 56_000;
/** No reader goes further in a comment. */
const ROWS_MAX = 200;
const CHECKS_MAX = 10;
const CHECK_LINE_MAX = 500;
const FINDINGS_MAX = 20;
const KEY_CHARACTERS_MAX = 200;

/** For the summary of a step of GitHub's actions. */
export function renderGithub(data: ReportData): string {
  const summary = summaryOf(data);
  const page = new Page();
  page.add([`## ${mark(summary)} ${code(summary.job)}: ${inert(summary.work.words)}`]);
  if (summary.money !== null) page.add(['', `**${inert(summary.money.words)}**`]);
  page.add(['', [...summary.counts, ...summary.facts].map(inert).join(' · ')]);
  addTrouble(page, summary);
  addChecks(page, summary.checks);
  addFindings(page, summary);
  addWell(page, summary);
  page.close(['', `<sub>Run ${code(summary.run)}; \`parley show RUN KEY\` tells more of each.</sub>`]);
  return page.text();
}

const mark = ({ work }: Summary): string => (work.tone === 'good' ? '✅' : '❌');

function addTrouble(page: Page, { lines, trouble }: Summary): void {
  if (trouble === 0) return;
  page.add(['', '| conversation | outcome | reason | time | spent | pull request |']);
  page.add(['| --- | --- | --- | ---: | ---: | --- |']);
  const shown = addRows(page, lines.slice(0, trouble).slice(0, ROWS_MAX), rowOf);
  if (shown < trouble)
    page.add(['', `And ${counted(trouble - shown, 'more conversation')} that did not succeed.`]);
}

/** Folded: readers rarely need what went well. */
function addWell(page: Page, { lines, trouble }: Summary): void {
  const well = lines.slice(trouble);
  if (well.length === 0) return;
  page.add(['', `<details><summary>${counted(well.length, 'conversation')} without trouble</summary>`, '']);
  page.add(['| conversation | outcome | time | spent | pull request |', '| --- | --- | ---: | ---: | --- |']);
  const shown = addRows(page, well.slice(0, ROWS_MAX), ({ key, state, took, spent, pullRequest }) =>
    row([name(key), inert(state), took, inert(spent), link(pullRequest)]),
  );
  const rest = well.length - shown;
  page.add([...(rest === 0 ? [] : ['', `And ${counted(rest, 'more conversation')}.`]), '', '</details>']);
}

function addRows(page: Page, lines: readonly SummaryLine[], rowText: (line: SummaryLine) => string): number {
  for (const [index, line] of lines.entries())
    if (!page.addWithin([rowText(line)], TABLE_BYTES_MAX)) return index;
  return lines.length;
}

function rowOf({ key, tone, state, reason, took, spent, pullRequest }: SummaryLine): string {
  const sign = tone === 'bad' ? '❌ ' : '';
  return row([name(key), `${sign}${inert(state)}`, code(reason), took, inert(spent), link(pullRequest)]);
}

function addChecks(page: Page, checks: readonly SummaryCheck[]): void {
  let shown = 0;
  for (const { key, lines } of checks.slice(0, CHECKS_MAX)) {
    const title = `<details><summary>The check of ${name(key)} ended with</summary>`;
    const output = fenced(lines.map((line) => plainLine(line).slice(0, CHECK_LINE_MAX)));
    if (!page.addWithin(['', title, '', ...output, '', '</details>'], CHECKS_BYTES_MAX)) break;
    shown += 1;
  }
  const rest = checks.length - shown;
  if (rest > 0) page.add(['', `And ${counted(rest, 'more failed check')}.`]);
}

function addFindings(page: Page, { findings }: Summary): void {
  if (findings.length === 0) return;
  page.add(['', 'Not in the results:', '']);
  const list = findings.slice(0, FINDINGS_MAX).map((finding) => `- ${code(finding)}`);
  let shown = 0;
  for (const entry of list) if (page.addWithin([entry], FINDINGS_BYTES_MAX)) shown += 1;
  if (shown < findings.length) page.add([`- and ${findings.length - shown} more`]);
}

const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const name = (key: string): string => code(key.slice(0, KEY_CHARACTERS_MAX));

/** The address was parsed; characters that would end it in Markdown or in a table are encoded. */
function link(href: string | null): string {
  if (href === null) return '';
  const safe = href.replaceAll(
    /[()<>|`\\*_[\]]/g,
    (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const [number = 'open'] = /\d+$/.exec(href) ?? [];
  return `[${number}](${safe})`;
}

function code(text: string): string {
  const inside = inert(text);
  return inside === '' ? '' : `<code>${inside}</code>`;
}

/**
 * Every sign as a character reference, which Markdown never takes for markup; letters, digits and spaces stay. An
 * invisible comment splits what code hosts turn into links, `@user`, `#12` and mail addresses; within `<code>` they
 * link nothing.
 */
export function inert(text: string): string {
  return oneLine(text)
    .replaceAll(/[^\p{L}\p{N}\p{M} ,;()?%/-]/gu, reference)
    .replaceAll(/&#(?:64|35);/g, '$&<!-- -->');
}

function reference(sign: string): string {
  const point = sign.codePointAt(0) ?? 0;
  return point < 0x80 ? `&#${point};` : sign;
}

/** A text that never grows beyond its bound. */
class Page {
  private readonly lines: string[] = [];
  private bytes = 0;
  private last: readonly string[] = [];

  add(lines: readonly string[]): void {
    this.addWithin(lines, GITHUB_BYTES_MAX);
  }

  /** False, and nothing is added, when it would be longer than `bytesMax` then. */
  addWithin(lines: readonly string[], bytesMax: number): boolean {
    const bytes = Buffer.byteLength(`${lines.join('\n')}\n`);
    if (this.bytes + bytes > bytesMax) return false;
    this.lines.push(...lines);
    this.bytes += bytes;
    return true;
  }

  close(lines: readonly string[]): void {
    this.last = lines;
  }

  text(): string {
    return `${[...this.lines, ...this.last].join('\n')}\n`;
  }
}
