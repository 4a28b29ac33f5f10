/**
 * A report in a few lines, for other places: a job summary, a comment, a channel.
 * Owns the choice and order of lines; texts are plain, and the renderers escape them.
 */
import { findingWords } from '../../core/run/items/item-evidence.ts';
import { endedState } from '../../core/run/run-words.ts';
import { endedWell, OUTCOMES } from '../../core/status.ts';
import { counted } from '../../core/text/counted.ts';
import { duration, usd } from '../../core/text/amounts.ts';
import type { Tone } from '../document.ts';
import { moneyVerdict, workVerdict, type Verdict } from '../report-verdict.ts';
import type { OwnSpend, ReportData, ReportItem } from '../report-data.ts';
import { cut } from '../report-words.ts';
import { workMs } from '../work-sections.ts';

export interface SummaryLine {
  readonly key: string;
  readonly tone: Tone;
  /** `check_failed`, or what it is doing. */
  readonly state: string;
  /** Why; empty when there is nothing to say. */
  readonly reason: string;
  readonly took: string;
  readonly spent: string;
  /** Address of a pull request on http or https; null for none. */
  readonly pullRequest: string | null;
}

export interface SummaryCheck {
  readonly key: string;
  readonly lines: readonly string[];
}

export interface Summary {
  readonly job: string;
  readonly run: string;
  readonly work: Verdict;
  /** Null when there is nothing wrong with the money, and when no reconciliation was requested. */
  readonly money: Verdict | null;
  /** `12 succeeded`, in the order of the vocabulary. */
  readonly counts: readonly string[];
  readonly facts: readonly string[];
  /** Unsuccessful items first, each group in the order of the plan. */
  readonly lines: readonly SummaryLine[];
  /** How many of `lines` did not succeed, or have not ended. */
  readonly trouble: number;
  readonly checks: readonly SummaryCheck[];
  /** What results lack. */
  readonly findings: readonly string[];
}

const REASON_CHARACTERS_MAX = 300;

export function summaryOf(data: ReportData): Summary {
  const { run, items } = data;
  const trouble = items.filter((item) => !isWell(item));
  const well = items.filter(isWell);
  const money = moneyVerdict(data);
  return {
    job: run.name,
    run: run.runId,
    work: workVerdict(data),
    money: money?.tone === 'bad' ? money : null,
    counts: OUTCOMES.flatMap((outcome) => {
      const count = run.ended[outcome] ?? 0;
      return count === 0 ? [] : [`${count} ${outcome}`];
    }),
    facts: factsOf(data),
    lines: [...trouble, ...well].map(lineOf),
    trouble: trouble.length,
    checks: items.flatMap(({ key, check }) => (check.length === 0 ? [] : [{ key, lines: check }])),
    findings: items.flatMap(({ key, findings }) =>
      findings.map((finding) => `${key}: ${cut(findingWords(finding), REASON_CHARACTERS_MAX)}`),
    ),
  };
}

function isWell({ row }: ReportItem): boolean {
  return row?.phase === 'ended' && endedWell(row.outcome);
}

function factsOf({ run, spend, writtenAt }: ReportData): readonly string[] {
  const unpriced = spend.unpriced === 0 ? '' : ` and ${counted(spend.unpriced, 'call')} without a price`;
  return [
    counted(run.total, 'conversation'),
    `${usd(spend.nanoUsd)}${unpriced}`,
    run.endedAt === null
      ? `not ended, after ${duration(writtenAt - run.createdAt)}`
      : duration(run.endedAt - run.createdAt),
  ];
}

function lineOf(item: ReportItem): SummaryLine {
  const { key, row, spend, delivery } = item;
  return {
    key,
    tone: isWell(item) ? 'good' : row?.phase === 'ended' ? 'bad' : 'plain',
    state: stateOf(item),
    reason: cut(row?.detail ?? '', REASON_CHARACTERS_MAX),
    took: duration(workMs(row)),
    spent: spentOf(spend),
    pullRequest: webAddress(delivery?.pullRequest ?? null),
  };
}

/** Calls without a price are named, and never shown as 0. */
function spentOf({ calls, unpriced, nanoUsd }: OwnSpend): string {
  if (unpriced === 0) return usd(nanoUsd);
  return unpriced === calls ? `${unpriced} unpriced` : `${usd(nanoUsd)} + ${unpriced} unpriced`;
}

function stateOf({ row }: ReportItem): string {
  if (row === null) return 'waiting';
  return row.phase === 'ended' ? endedState(row) : row.phase;
}

/** From a code host: text that is no web address does not become a link. */
function webAddress(text: string | null): string | null {
  if (text === null || !URL.canParse(text)) return null;
  const { protocol, href, username } = new URL(text);
  return (protocol === 'https:' || protocol === 'http:') && username === '' ? href : null;
}
