/**
 * What a run orders for items that live in shards: that one begins, stops, waits or has ended.
 * Owns what is sent, and when; a directive is a snapshot with a number, so that the newest wins. Must not admit anything.
 */
import type { ShardDirective, ShardSpec, ShardEvent } from '../shard/message.ts';
import { boundsOf, shardAddress, shardOf } from './shards.ts';
import { haveAllEndedWell } from './items-by-phase.ts';
import { isInFlight, type RunItem, type RunItemSpec, type RunState } from './state.ts';
import type { RunContext } from './run-context.ts';

/** After a step: each shard is notified of the items that the run changed of its own accord. */
export function directShards(before: RunState, context: RunContext, changed: readonly number[]): void {
  const { state } = context;
  const directives = new Map<number, ShardDirective[]>();
  for (const [number, isThere] of (state.shards ?? []).entries()) {
    if (hasGrown(before, state, number)) startShard(context, number);
    else if (isThere)
      directives.set(number, before.shards?.[number] === true ? [] : directivesSinceInit(state, number));
  }
  for (const index of changed) {
    // A shard that has only now reported that it is there receives all its items at once.
    const number = shardOf(state, index);
    const [was, is] = [before.items[index], state.items[index]];
    if (was === undefined || is === undefined || before.shards?.[number] !== true || !isDirective(was, is))
      continue;
    directives.get(number)?.push(directiveOf(is, index, state.sequence));
  }
  for (const [number, about] of directives) if (about.length > 0) sendDirectives(context, number, about);
}

/** At the start of the run, and where items were added: a shard that has begun takes up those that it has not. */
function hasGrown(before: RunState, state: RunState, number: number): boolean {
  return before.sequence === 0 || boundsOf(before, number).to !== boundsOf(state, number).to;
}

export function sendDirectives(
  context: RunContext,
  number: number,
  directives: readonly ShardDirective[],
): void {
  context.order({
    type: 'send',
    to: shardAddress(context.state.runId, number),
    event: { type: 'itemsDirected', directives },
  });
}

/** `revision` counts the steps of the run: of two directives about one item the later one wins. */
export function directiveOf(item: RunItem, index: number, revision: number): ShardDirective {
  const { phase, attempt, ending, stopBy, failures, notBefore, endedAt, plan, hasVerify, workingMs, own } =
    item;
  return {
    index,
    revision,
    phase: phase === 'waiting' || phase === 'ended' ? phase : 'starting',
    attempt,
    ending,
    isStopped: stopBy !== null,
    failures,
    notBefore,
    endedAt,
    ...(plan === undefined
      ? {}
      : { spec: { hasVerify, workingMs, ...(own === undefined ? {} : { own }), plan } }),
  };
}

/** Nothing is requested of them until a client resumes the run; where all items have ended well no client can. */
export function closeShards(context: RunContext): void {
  const { runId, items, rules, shards = [] } = context.state;
  const isForGood = haveAllEndedWell(items);
  if (!isForGood && rules.shardsRest !== true) return;
  const event: ShardEvent = { type: 'shardClosed', ...(isForGood ? {} : { mayOpenAgain: true }) };
  for (const number of shards.keys()) context.order({ type: 'send', to: shardAddress(runId, number), event });
}

function startShard(context: RunContext, number: number): void {
  const { state } = context;
  const { from, to } = boundsOf(state, number);
  const spec: ShardSpec = {
    runId: state.runId,
    userId: state.userId,
    name: state.name,
    planHash: state.planHash,
    slice: { number, from },
    rules: state.rules,
    items: state.items.slice(from, to).map(specOf),
  };
  context.order({
    type: 'send',
    to: shardAddress(state.runId, number),
    event: { type: 'shardStarted', spec },
  });
}

/** What an item waits for, and its slots, are for the run alone. */
function specOf({ key, priority, hasVerify, workingMs, own }: RunItem): RunItemSpec {
  return { key, priority, hasVerify, workingMs, ...(own === undefined ? {} : { own }) };
}

/** What a shard missed while it was not there. */
function directivesSinceInit(state: RunState, number: number): ShardDirective[] {
  const { from, to } = boundsOf(state, number);
  const directives: ShardDirective[] = [];
  for (let index = from; index < to; index += 1) {
    const item = state.items[index];
    if (item !== undefined && (item.attempt > 0 || item.phase !== 'waiting'))
      directives.push(directiveOf(item, index, state.sequence));
  }
  return directives;
}

/** What the shard itself has reported needs no directive: the end of an attempt, and its conversation's notices. */
function isDirective(was: RunItem, is: RunItem): boolean {
  if (is.attempt !== was.attempt) return true;
  if (isInFlight(is)) return is.stopBy !== was.stopBy;
  return !isInFlight(was) && is.phase !== was.phase;
}
