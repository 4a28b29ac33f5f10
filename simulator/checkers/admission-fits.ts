/**
 * R1: a run begins only what fits: places, budget with its reserves, pauses of retries, its mode; and it holds only for a reason.
 * Owns the checks on what a run begins; must not choose who comes next.
 */
import { standingOf } from '../../core/run/standing.ts';
import { isInFlight, type RunItem, type RunState } from '../../core/run/state.ts';
import { changedItems } from './changed-items.ts';
import { PUNCTUAL, type Moment } from './checker.ts';

export function admissionFits(moment: Moment): string | null {
  const { step, timeliness = PUNCTUAL } = moment;
  const before = step.before as RunState | null;
  const after = step.after as RunState;
  const now = step.at + timeliness.clockOffMs;
  return (
    countsRight(moment, before, after) ??
    beginsOnlyWhatFits(step, after) ??
    (before === null
      ? null
      : (tooEarly(moment, before, now) ?? heldForNothing(before, after, step.at - timeliness.clockOffMs)))
  );
}

/** What a run keeps of who is in flight follows its items: from its birth on that is the same as one look at all of them. */
function countsRight(moment: Moment, before: RunState | null, after: RunState): string | null {
  let expected = before === null ? 0 : inFlightOf(before);
  for (const index of changedItems(moment)) {
    const was = before?.items[index];
    if (was !== undefined && isInFlight(was)) expected -= 1;
    if (isInFlight(after.items[index] as RunItem)) expected += 1;
  }
  const counted = inFlightOf(after);
  return counted === expected ? null : `it counts ${counted} items in flight, and ${expected} are`;
}

function inFlightOf(run: RunState): number {
  return standingOf(run).inFlight.length;
}

function beginsOnlyWhatFits({ commands }: Moment['step'], run: RunState): string | null {
  if (!commands.some(({ type }) => type === 'startConversation')) return null;
  const { rules, spentNanoUsd, mode } = run;
  const inFlight = inFlightOf(run);
  if (inFlight > rules.concurrency) return `${inFlight} items are in flight, and ${rules.concurrency} may be`;
  if (mode === 'draining' || mode === 'cancelling') return `an item begins, and the run is ${mode}`;
  if (rules.budget?.mode !== 'enforce') return null;
  const { nanoUsd, reserveNanoUsd } = rules.budget;
  const held = spentNanoUsd + inFlight * reserveNanoUsd;
  return held > nanoUsd ? `${held} nano-USD are spent or held, and the budget is ${nanoUsd}` : null;
}

function tooEarly(moment: Moment, before: RunState, now: number): string | null {
  const { items } = moment.step.after as RunState;
  for (const index of changedItems(moment)) {
    const { key, phase, attempt } = items[index] as RunItem;
    const was = before.items[index];
    if (phase !== 'starting' || was?.phase !== 'waiting' || attempt === was.attempt) continue;
    if (was.notBefore !== null && was.notBefore > now)
      return `item "${key}" begins ${was.notBefore - now} ms before its pause is over`;
  }
  return null;
}

/** A hold that nothing explains never ends: somebody has to resume the run by hand. */
function heldForNothing(
  before: RunState,
  { mode, reason, rules, breakerHits, spentNanoUsd }: RunState,
  now: number,
): string | null {
  if (mode !== 'paused' || before.mode === 'paused') return null;
  if (reason === 'budget') {
    const { nanoUsd, reserveNanoUsd } = rules.budget ?? { nanoUsd: 0, reserveNanoUsd: 0 };
    return spentNanoUsd + reserveNanoUsd <= nanoUsd
      ? 'it holds for its budget, and one more would fit'
      : null;
  }
  if (reason?.startsWith('breaker:') !== true || rules.breaker === null) return null;
  const { on, windowMs } = rules.breaker;
  const failureClass = reason.slice('breaker:'.length);
  if (!on.some((one) => one === failureClass))
    return `its breaker does not count ${failureClass}, and holds it`;
  return breakerHits.some((at) => at < now - windowMs)
    ? 'its breaker counts a failure that is older than its window'
    : null;
}
