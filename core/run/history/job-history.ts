/**
 * The results of the runs of one job: each run, and each item over the runs.
 * Owns the arithmetic and what is called flaky; pure.
 */
import type { RunItemRow, RunRow } from '../../machine/projection.ts';
import { countWell, endedWell, type Outcome } from '../../status.ts';

export interface RunWithItems {
  readonly run: RunRow;
  readonly items: readonly RunItemRow[];
}

export interface PastRun {
  readonly run: RunRow;
  /** Until `now` where it goes on. */
  readonly durationMs: number;
  /** Of those that have ended; null when none has. */
  readonly successShare: number | null;
}

/** One key over the runs, the newest run first. */
export interface KeyHistory {
  readonly key: string;
  readonly outcomes: readonly { readonly runId: RunRow['runId']; readonly outcome: Outcome | null }[];
  readonly ended: number;
  readonly succeeded: number;
  /** It succeeded in one run and did not in another of the same work: only chance separates them. */
  readonly isFlaky: boolean;
  /** Mean over the runs that have its cost; null when none does. */
  readonly meanNanoUsd: number | null;
  readonly meanMs: number | null;
}

export interface JobHistory {
  readonly runs: readonly PastRun[];
  /** The flaky ones first, then those that succeed least. */
  readonly keys: readonly KeyHistory[];
}

/** `history`: the newest run first. */
export function jobHistory(history: readonly RunWithItems[], now: number): JobHistory {
  const byKey = new Map<string, { readonly run: RunRow; readonly item: RunItemRow }[]>();
  for (const { run, items } of history)
    for (const item of items) {
      const seen = byKey.get(item.key);
      if (seen === undefined) byKey.set(item.key, [{ run, item }]);
      else seen.push({ run, item });
    }
  const keys = [...byKey].map(([key, seen]) => keyHistory(key, seen));
  return { runs: history.map(({ run }) => pastRun(run, now)), keys: keys.sort(byTrouble) };
}

function pastRun(run: RunRow, now: number): PastRun {
  const ended = Object.values(run.ended).reduce((sum, count) => sum + count, 0);
  return {
    run,
    durationMs: (run.endedAt ?? now) - run.createdAt,
    successShare: ended === 0 ? null : countWell(run.ended) / ended,
  };
}

function keyHistory(
  key: string,
  seen: readonly { readonly run: RunRow; readonly item: RunItemRow }[],
): KeyHistory {
  const judged = seen.filter(({ item: { outcome } }) => isJudged(outcome));
  const succeeded = judged.filter(({ item }) => endedWell(item.outcome)).length;
  const times = seen.flatMap(({ item: { admittedAt, endedAt } }) =>
    admittedAt === null || endedAt === null ? [] : [endedAt - admittedAt],
  );
  return {
    key,
    outcomes: seen.map(({ run, item }) => ({ runId: run.runId, outcome: item.outcome })),
    ended: judged.length,
    succeeded,
    isFlaky: isFlaky(judged),
    meanNanoUsd: mean(seen.flatMap(({ item: { costNanoUsd } }) => costNanoUsd ?? [])),
    meanMs: mean(times),
  };
}

/** Under another plan it is other work, and its outcome proves nothing. */
function isFlaky(judged: readonly { readonly run: RunRow; readonly item: RunItemRow }[]): boolean {
  const seen = new Map<string, boolean>();
  return judged.some(({ run: { planHash }, item }) => {
    const before = seen.get(planHash);
    const isWell = endedWell(item.outcome);
    seen.set(planHash, isWell);
    return before !== undefined && before !== isWell;
  });
}

/** A cancelled item, and one that was not needed, shows nothing about the work. */
function isJudged(outcome: Outcome | null): boolean {
  return outcome !== null && outcome !== 'cancelled' && outcome !== 'skipped' && outcome !== 'not_needed';
}

function mean(values: readonly number[]): number | null {
  if (values.length === 0) return null;
  return Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
}

function byTrouble(a: KeyHistory, b: KeyHistory): number {
  if (a.isFlaky !== b.isFlaky) return a.isFlaky ? -1 : 1;
  const share = ({ ended, succeeded }: KeyHistory): number => (ended === 0 ? 2 : succeeded / ended);
  return share(a) - share(b) || (a.key < b.key ? -1 : 1);
}
