/**
 * A run that takes up a changed plan: new items wait, changed ones begin anew, what the job no longer has is cancelled.
 * Owns what becomes of each item by its phase; an item in flight keeps its plan until its attempt has ended. Which
 * items are new or changed is compared elsewhere.
 */
import { remember, wasSeen } from '../../machine/requests.ts';
import { backToWork, WAITS_AGAIN, wasPassedOver } from '../back-to-work.ts';
import { initItem } from '../init.ts';
import type { RunEvent } from '../message.ts';
import { recordAmendment } from '../settings.ts';
import { grownShards } from '../shards.ts';
import { hasEndedForGood, allItemsByPhase } from '../items-by-phase.ts';
import { isInFlight, type Ending, type RunItem, type RunState } from '../state.ts';
import type { RunContext } from '../run-context.ts';

type Amended = Extract<RunEvent, { readonly type: 'planAmended' }>;

/** Enough of a hash to distinguish plans. */
const HASH_CHARACTERS = 8;
const RETIRED: Ending = {
  outcome: 'cancelled',
  failureClass: 'cancelled',
  detail: 'the job no longer has it',
};
const REPLACED: Ending = {
  outcome: 'not_needed',
  failureClass: null,
  detail: 'its rows are known, and each is a conversation of its own',
};

/** The same plan again changes nothing; one compared with another plan than the run's is refused, with a record. */
export function amendPlan(context: RunContext, event: Amended): void {
  const { state } = context;
  if (wasSeen(state.seen, event.requestId)) return;
  state.seen = remember(state.seen, event.requestId);
  const gone = [...event.retired, ...(event.replaced ?? [])];
  if (state.planHash === event.planHash && !isAnyWaiting(state, gone)) return;
  const why = refusal(state, event);
  const isSame = state.planHash === event.planHash;
  const step = `plan ${short(state.planHash)}${isSame ? '' : ` -> ${short(event.planHash)}`}`;
  if (why !== null) return recordAmendment(context, `${step} was not taken up: ${why}`, event.by);
  const before = state.items;
  const items = [...before];
  for (const change of event.changed) {
    const item = items[change.index];
    if (item !== undefined) items[change.index] = changedItem(item, change, event.planHash);
  }
  for (const index of gone) {
    const item = items[index];
    if (item?.phase !== 'waiting') continue;
    const how = event.retired.includes(index)
      ? { ending: RETIRED }
      : { ending: REPLACED, isReplaced: true as const };
    items[index] = { ...item, phase: 'ended', ...how, endedAt: context.now, notBefore: null };
  }
  for (const spec of event.added) items.push({ ...initItem(spec), plan: event.planHash });
  state.planHash = event.planHash;
  takeUpSkipped(items);
  state.items = items;
  state.shards = grownShards(state, before.length);
  state.byPhase = allItemsByPhase(items);
  if (state.byPhase.waiting.length > 0) backToWork(context);
  recordAmendment(context, `${step}: ${wordsOf(event, before)}`, event.by);
}

/** A job that only lost items is no other plan. */
function isAnyWaiting({ items }: RunState, indexes: readonly number[]): boolean {
  return indexes.some((index) => items[index]?.phase === 'waiting');
}

/** Null when it can be taken up. */
function refusal(state: RunState, { basePlanHash }: Amended): string | null {
  if (state.planHash !== basePlanHash) return 'the run has another plan meanwhile';
  if (state.mode === 'cancelling') return 'the run is being cancelled';
  if (hasEndedForGood(state)) return 'the run has ended for good';
  return null;
}

/** An item that has succeeded stays as it is; one that ended otherwise is taken up, with all its tries. */
function changedItem(item: RunItem, { spec, isAnew }: Amended['changed'][number], plan: string): RunItem {
  // What it waits for, its slots, and the copies it is judged with count from now on.
  const { groups, needs, slots, priority, whole } = spec;
  const { groups: _groups, needs: _needs, slots: _slots, whole: _whole, ...rest } = item;
  const placed: RunItem = {
    ...rest,
    priority,
    ...(slots === undefined ? {} : { slots }),
    ...(groups === undefined ? {} : { groups }),
    ...(needs === undefined ? {} : { needs }),
    ...(whole === undefined ? {} : { whole }),
  };
  if (!isAnew || item.ending?.outcome === 'succeeded') return placed;
  const { hasVerify, workingMs } = spec;
  const hasRules = spec.own !== undefined || item.own !== undefined;
  const next = { hasVerify, workingMs, ...(hasRules ? { own: spec.own ?? null } : {}), plan };
  if (isInFlight(item)) return { ...placed, next };
  return { ...placed, ...next, ...(item.phase === 'ended' ? WAITS_AGAIN : {}) };
}

/** What they needed may succeed now. */
function takeUpSkipped(items: RunItem[]): void {
  for (const [index, item] of items.entries())
    if (wasPassedOver(item)) items[index] = { ...item, ...WAITS_AGAIN };
}

function wordsOf({ changed, added, retired }: Amended, before: RunState['items']): string {
  const anew = changed.filter(({ isAnew }) => isAnew).map(({ index }) => before[index]);
  const later = anew.filter((item) => item !== undefined && isInFlight(item)).length;
  const waiting = retired.filter((index) => before[index]?.phase === 'waiting').length;
  const counts: readonly (readonly [number, string])[] = [
    [added.length, 'new'],
    [anew.length - later, 'changed'],
    [later, 'changed from the next attempt on'],
    [waiting, 'no longer there'],
  ];
  const words = counts.filter(([count]) => count > 0).map(([count, what]) => `${count} ${what}`);
  return words.length === 0 ? 'no conversation is another one' : words.join(', ');
}

function short(hash: string): string {
  return hash.slice(0, HASH_CHARACTERS);
}
