/**
 * A report as JUnit XML, which most build servers read: a suite for the run, a case for each conversation.
 * Pure; owns what counts as failed, as an error and as skipped there.
 */
import { type Score, findingWords } from '../core/run/items/item-evidence.ts';
import { escapeMarkup } from '../core/text/escape-markup.ts';
import type { RunItemRow } from '../core/machine/projection.ts';
import type { WholeItem } from '../core/run/items/whole-items.ts';
import { SECOND_MS } from '../core/time.ts';
import { oneLine, plainLine } from './plain-text.ts';
import type { ReportData, ReportItem } from './report-data.ts';
import { workMs } from './work-sections.ts';
import { wholesOf, wholeWords } from './group-sections.ts';

type Wholes = ReadonlyMap<string, WholeItem>;
type Verdict = 'passed' | 'failure' | 'error' | 'skipped';

export function renderJunit({ run, items, writtenAt }: ReportData): string {
  const wholes = new Map(wholesOf(items).map((whole) => [whole.key, whole]));
  const verdicts = items.map((item) => verdictIn(item, wholes));
  const count = (verdict: Verdict): number => verdicts.filter((one) => one === verdict).length;
  const attributes = {
    name: run.name,
    tests: items.length,
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
    time: seconds((run.endedAt ?? writtenAt) - run.createdAt),
    timestamp: new Date(run.createdAt).toISOString().slice(0, 19),
  };
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    '<testsuites>',
    `  <testsuite${written(attributes)}>`,
    ...items.map((item) => testCase(item, wholes)),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n');
}

/** Work that is not good is a failure; work that could not be judged is an error. */
function verdictOf(row: RunItemRow | null): Verdict {
  if (row?.phase !== 'ended' || row.outcome === null) return 'skipped';
  switch (row.outcome) {
    case 'succeeded':
      return 'passed';
    case 'check_failed':
    case 'limit_reached':
      return 'failure';
    case 'failed':
      return 'error';
    case 'waiting':
    case 'cancelled':
    case 'skipped':
    case 'not_needed':
      return 'skipped';
  }
}

/** A build is not red for a copy whose item succeeded as a whole. */
function verdictIn({ row, whole }: ReportItem, wholes: Wholes): Verdict {
  const verdict = verdictOf(row);
  const isForgiven = whole !== undefined && wholes.get(whole.key)?.verdict === 'succeeded';
  return isForgiven && verdict !== 'passed' ? 'skipped' : verdict;
}

function testCase(item: ReportItem, wholes: Wholes): string {
  const { key, entry, row, check, scores, findings } = item;
  const attributes = { classname: entry, name: key, time: seconds(workMs(row) ?? 0) };
  const verdict = verdictIn(item, wholes);
  const head = `    <testcase${written(attributes)}`;
  const lacking = findings.map((finding) => escapeMarkup(oneLine(findingWords(finding))));
  const measured = propertiesOf(scores);
  const said = lacking.length === 0 ? '' : `<system-out>${lacking.join('\n')}</system-out>`;
  if (verdict === 'passed')
    return measured + said === '' ? `${head}/>` : `${head}>${measured}${said}</testcase>`;
  const type = row?.failureClass ?? row?.outcome ?? 'not_ended';
  const whole = wholes.get(item.whole?.key ?? '');
  const message = `${words(row)}${whole === undefined ? '' : ` (${wholeWords(whole)}: ${whole.verdict})`}`;
  const about = verdict === 'skipped' ? { message } : { type, message };
  const output = check.map((line) => escapeMarkup(plainLine(line))).join('\n');
  const body = output === '' ? '/>' : `>${output}</${verdict}>`;
  return `${head}>${measured}<${verdict}${written(about)}${body}${said}</testcase>`;
}

/** As build servers take numbers about a case. */
function propertiesOf(scores: readonly Score[]): string {
  const told = scores.flatMap(({ name, value }) => (value === null ? [] : [{ name, value }]));
  if (told.length === 0) return '';
  return `<properties>${told.map((one) => `<property${written(one)}/>`).join('')}</properties>`;
}

function words(row: RunItemRow | null): string {
  const outcome = row?.outcome ?? 'not ended';
  return row?.detail == null ? outcome : `${outcome}: ${row.detail}`;
}

function written(attributes: Readonly<Record<string, string | number>>): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escapeMarkup(oneLine(String(value)))}"`)
    .join('');
}

function seconds(ms: number): string {
  return (Math.max(0, ms) / SECOND_MS).toFixed(3);
}
