/**
 * What a client changes of a run that goes on, recorded with its name and the time.
 * Owns what a changed setting does to the rules, and the words of the amendment; must not begin or end an item.
 */
import { formatNano, nanoUsd } from '../money/money.ts';
import type { RunEvent, RunSettings } from './message.ts';
import { changePace, paceOf } from './admission/pace.ts';
import type { RunRules } from './rules.ts';
import type { RunContext } from './run-context.ts';

/** Code of the lifecycle event by which an amendment is found again. */
export const AMENDED = 'run_amended';

export function changeSettings(
  context: RunContext,
  event: Extract<RunEvent, { readonly type: 'settingsChanged' }>,
): void {
  const { state } = context;
  const rules = amended(state.rules, event.settings);
  const words = wordsOf(state.rules, rules);
  if (words.length === 0) return;
  state.rules = rules;
  // A number that a user sets counts at once: the endpoint's refusals before were about the old one.
  if (event.settings.concurrency !== undefined && paceOf(state).places !== null)
    changePace(context, { places: null, calm: 0 });
  recordAmendment(context, words.join(', '), event.by);
}

/** Impossible values change nothing: the caller checks them first, and reports them. */
function amended(rules: RunRules, { concurrency, startEveryMs, budgetNanoUsd }: RunSettings): RunRules {
  let next = rules;
  if (concurrency !== undefined && concurrency >= 1) next = { ...next, concurrency: Math.floor(concurrency) };
  if (startEveryMs !== undefined && (startEveryMs === null || startEveryMs > 0))
    next = { ...next, startEveryMs: startEveryMs ?? undefined };
  if (budgetNanoUsd !== undefined && budgetNanoUsd > 0 && rules.budget !== null)
    next = { ...next, budget: { ...rules.budget, nanoUsd: budgetNanoUsd } };
  return next;
}

function wordsOf(before: RunRules, after: RunRules): readonly string[] {
  const words: string[] = [];
  const add = (name: string, was: string, is: string): void => {
    if (was !== is) words.push(`${name} ${was} -> ${is}`);
  };
  add('concurrency', String(before.concurrency), String(after.concurrency));
  add('rate', rateWords(before), rateWords(after));
  add('budget', budgetWords(before), budgetWords(after));
  return words;
}

const rateWords = ({ startEveryMs }: RunRules): string =>
  startEveryMs === undefined ? 'none' : `one start in ${startEveryMs} ms`;
const budgetWords = ({ budget }: RunRules): string =>
  budget === null ? 'none' : `$${formatNano(nanoUsd(budget.nanoUsd))}`;

/** The instant is that of the record. */
export function recordAmendment(context: RunContext, what: string, by: string | undefined): void {
  const about = { machine: 'run', id: context.state.runId } as const;
  const detail = by === undefined ? what : `${what}, by ${by}`;
  context.order({ type: 'record', event: { about, conversationId: null, code: AMENDED, detail } });
}
