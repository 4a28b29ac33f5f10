/**
 * The end of an attempt: the item is tried again, or has ended.
 * Owns which of the two it is; how an attempt came to its end is read in core/run/items/items.ts.
 */
import { HOST_LOSSES_MAX } from '../../limits.ts';
import { countForBreaker, probeEnded, retryAt } from '../admission/breaker.ts';
import { attemptEnded } from '../admission/pace.ts';
import type { RunContext } from '../run-context.ts';
import { changeItem } from '../run-context.ts';
import { itemAt, type Ending, type RunItem, type RunState } from '../state.ts';
import { placeGivenBack } from './offers.ts';

/** The attempt is over: tried again by its class's rule, or the item has ended. */
export function endAttempt(context: RunContext, index: number, ending: Ending): void {
  const { state } = context;
  const item = itemAt(state, index);
  if (item === undefined) return;
  const base = { awaiting: null, waitsFor: undefined, ending, stopBy: null } satisfies Partial<RunItem>;
  const { failureClass } = ending;
  if (takesNoTry(state, item, ending)) return beginAgain(context, index, item, base);
  attemptEnded(context, failureClass);
  placeGivenBack(context);
  probeEnded(context, item, ending);
  if (failureClass === null || state.mode === 'cancelling' || ending.outcome === 'cancelled') {
    changeItem(context, index, { ...base, phase: 'ended', endedAt: context.now });
    return;
  }
  const failures = { ...item.failures, [failureClass]: (item.failures[failureClass] ?? 0) + 1 };
  const again = retryAt({ ...item, failures }, failureClass, state, context.now);
  countForBreaker(context, failureClass);
  const next: Partial<RunItem> =
    again === null ? { phase: 'ended', endedAt: context.now } : { phase: 'waiting', notBefore: again };
  changeItem(context, index, { ...base, ...next, failures });
}

/** Neither the item nor its endpoint is to blame for a host that was given up; one that ends host after host may be. */
function takesNoTry({ mode }: RunState, { hostsLost = 0 }: RunItem, ending: Ending): boolean {
  if (ending.isHostLost !== true || mode === 'cancelling') return false;
  return hostsLost < HOST_LOSSES_MAX;
}

/** At once: whether there is room elsewhere, placement says. */
function beginAgain(
  context: RunContext,
  index: number,
  { hostsLost = 0 }: RunItem,
  base: Partial<RunItem>,
): void {
  placeGivenBack(context);
  changeItem(context, index, { ...base, phase: 'waiting', notBefore: null, hostsLost: hostsLost + 1 });
}
