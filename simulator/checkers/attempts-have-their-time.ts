/**
 * R6: no attempt ends by its deadline, or by the limit of its working time, before that much true time has passed (D36).
 * Owns the memory of since when each is admitted and at work, by the true clock: the one of the machines may be set.
 */
import { waitOf } from '../../core/plan/item-rules.ts';
import { addressKey } from '../../core/ids.ts';
import { isInFlight, type RunItem, type RunState } from '../../core/run/state.ts';
import { changedPositions } from '../../core/run/amend/changed-positions.ts';
import type { Moment, SafetyCheck } from './checker.ts';

/** What is measured of an attempt, in milliseconds of the true clock. */
interface Measured {
  readonly attempt: number;
  readonly admittedAt: number;
  readonly workingSince: number | null;
  readonly workedMs: number;
}

export function attemptsHaveTheirTime(): SafetyCheck {
  const known = new Map<string, Measured>();
  return ({ step }: Moment) => {
    const { machine } = step.address;
    if (machine !== 'run' && machine !== 'shard') return null;
    const after = step.after as RunState;
    // Their shards say what becomes of them.
    if (after.shards !== undefined) return null;
    const before = (step.before as RunState | null)?.items ?? [];
    for (const position of changedPositions(before, after.items)) {
      const item = after.items[position] as RunItem;
      const key = `${addressKey(step.address)} ${item.key}`;
      const measured = measure(known.get(key), before[position], item, step.at);
      known.set(key, measured);
      const problem = endedEarly(before[position], item, { measured, rules: after.rules, at: step.at });
      if (problem !== null) return `item "${item.key}" ${problem}`;
    }
    return null;
  };
}

function measure(known: Measured | undefined, was: RunItem | undefined, is: RunItem, at: number): Measured {
  if (known?.attempt !== is.attempt) return measured(is, at);
  const gotItsPlace = was?.waitsFor !== undefined && is.waitsFor === undefined;
  const workedMs =
    known.workedMs + (known.workingSince !== null && is.workingSince === null ? at - known.workingSince : 0);
  const workingSince = is.workingSince === null ? null : (known.workingSince ?? at);
  return { ...known, admittedAt: gotItsPlace ? at : known.admittedAt, workingSince, workedMs };
}

function measured({ attempt, workingSince }: RunItem, at: number): Measured {
  return { attempt, admittedAt: at, workingSince: workingSince === null ? null : at, workedMs: 0 };
}

interface Judged {
  readonly measured: Measured;
  readonly rules: RunState['rules'];
  readonly at: number;
}

function endedEarly(
  was: RunItem | undefined,
  is: RunItem,
  { measured: { admittedAt, workingSince, workedMs }, rules, at }: Judged,
): string | null {
  if (was?.ending !== null || is.ending === null || !isInFlight(is)) return null;
  const { detail } = is.ending;
  const { deadlineMs } = waitOf(is.own, rules);
  if (detail === 'the deadline of the job' && deadlineMs !== null && at < admittedAt + deadlineMs)
    return `ends by its deadline ${admittedAt + deadlineMs - at} ms early`;
  const atWorkMs = workedMs + (workingSince === null ? 0 : at - workingSince);
  if (detail === 'working' && is.workingMs !== null && atWorkMs < is.workingMs)
    return `ends by its working time ${is.workingMs - atWorkMs} ms early`;
  return null;
}
