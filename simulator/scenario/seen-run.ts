/**
 * The run as a whole, as expectations see it: budget, phase, and what has been counted since the beginning.
 * Owns the sums; must not compute what a machine decides.
 */
import { endedWell } from '../../core/status.ts';
import { NANO_PER_USD } from '../../core/money/money.ts';
import { countBy, isInFlight, type RunState } from '../../core/run/state.ts';
import type { Observation } from '../../dsl/expression/observation.ts';
import type { Tally } from './tally.ts';

/** Without a budget there is no limit: every amount is below it. */
export function budgetSeen(run: RunState | null): Observation['budget'] {
  const budget = run?.rules.budget ?? null;
  const inFlight = run === null ? 0 : countBy(run.items, isInFlight);
  return {
    spent_usd: (run?.spentNanoUsd ?? 0) / NANO_PER_USD,
    reserved_usd: (inFlight * (budget?.reserveNanoUsd ?? 0)) / NANO_PER_USD,
    limit_usd: budget === null ? Infinity : budget.nanoUsd / NANO_PER_USD,
  };
}

export function runSeen(run: RunState | null): Observation['run'] {
  const items = run?.items ?? [];
  return {
    phase: run?.phase ?? '',
    mode: run?.mode ?? '',
    reason: run?.reason ?? '',
    waiting: BigInt(countBy(items, ({ phase }) => phase === 'waiting')),
    in_flight: BigInt(countBy(items, isInFlight)),
    ended: BigInt(countBy(items, ({ phase }) => phase === 'ended')),
  };
}

export function summarySeen(
  run: RunState | null,
  tally: Tally,
  { startAt, now }: { readonly startAt: number; readonly now: number },
): Observation['summary'] {
  const items = run?.items ?? [];
  const ended = items.filter(({ phase }) => phase === 'ended');
  const succeeded = ended.filter(({ ending }) => ending?.outcome === 'succeeded').length;
  const allEnded = items.length > 0 && ended.length === items.length;
  const lastEnd = ended.reduce((last, { endedAt }) => Math.max(last, endedAt ?? 0), startAt);
  const { ambiguousNanoUsd = 0, unassignedNanoUsd = 0 } = run?.reconciliation ?? {};
  return {
    makespan_ms: (allEnded ? lastEnd : now) - startAt,
    cost_usd: (run?.spentNanoUsd ?? 0) / NANO_PER_USD,
    succeeded: BigInt(succeeded),
    failed: BigInt(ended.filter(({ ending }) => !endedWell(ending?.outcome)).length),
    retried: BigInt(items.reduce((sum, { attempt }) => sum + Math.max(0, attempt - 1), 0)),
    paused_idle: BigInt(tally.paused.idle),
    paused_session_limit: BigInt(tally.paused.session_limit),
    paused_user: BigInt(tally.paused.user),
    paused_capacity: BigInt(tally.paused.capacity),
    resumed: BigInt(tally.resumed),
    sandboxes: BigInt(tally.sandboxes),
    arrived: BigInt(tally.arrived),
    refused: BigInt(tally.refused),
    unmatched_usd: (Number(ambiguousNanoUsd) + Number(unassignedNanoUsd)) / NANO_PER_USD,
  };
}
