/**
 * R1: a run begins only what fits: places, budget with its reserves, pauses of retries, its mode; and it holds only for a reason.
 * Owns the checks on what a run begins; must not choose who comes next.
 */
import { isInFlight, type RunState } from '../../core/run/state.ts';
import { PUNCTUAL, type Moment } from './checker.ts';

export function admissionFits({ step, timeliness = PUNCTUAL }: Moment): string | null {
  const before = step.before as RunState | null;
  const after = step.after as RunState;
  const now = step.at + timeliness.clockOffMs;
  return (
    beginsOnlyWhatFits(step, after) ??
    (before === null
      ? null
      : (tooEarly(before, after, now) ?? heldForNothing(before, after, step.at - timeliness.clockOffMs)))
  );
}

function beginsOnlyWhatFits(
  { commands }: Moment['step'],
  { items, rules, spentNanoUsd, mode }: RunState,
): string | null {
  if (!commands.some(({ type }) => type === 'startConversation')) return null;
  const inFlight = items.filter(isInFlight).length;
  if (inFlight > rules.concurrency) return `${inFlight} items are in flight, and ${rules.concurrency} may be`;
  if (mode === 'draining' || mode === 'cancelling') return `an item begins, and the run is ${mode}`;
  if (rules.budget?.mode !== 'enforce') return null;
  const { nanoUsd, reserveNanoUsd } = rules.budget;
  const held = spentNanoUsd + inFlight * reserveNanoUsd;
  return held > nanoUsd ? `${held} nano-USD are spent or held, and the budget is ${nanoUsd}` : null;
}

function tooEarly(before: RunState, after: RunState, now: number): string | null {
  for (const [index, { key, phase, attempt }] of after.items.entries()) {
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
