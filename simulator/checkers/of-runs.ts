/**
 * Invariants of a run: its items, its money, its end, its shards, and what it lets go.
 * Owns the checks on steps of a run; a check of each item alone reads those that a step has changed.
 */
import { addressKey } from '../../core/ids.ts';
import { changedPositions } from '../../core/run/amend/changed-positions.ts';
import { shardAddress, shardOf } from '../../core/run/shards.ts';
import { isInFlight, itemAt, type RunItem, type RunState } from '../../core/run/state.ts';
import type { WorldFacts } from '../world-facts.ts';
import type { Finding, Moment, Rest, SafetyCheck } from './checker.ts';
import { runsAt, shardsAt } from './of-rest.ts';

/** Indexes, ascending; all of them for a run that begins. */
export function changedItems({ step, changed }: Moment): readonly number[] {
  return changed ?? changedBy(step);
}

/** Of a step of a run. */
export function changedBy({ before, after }: Moment['step']): readonly number[] {
  return changedPositions((before as RunState | null)?.items ?? [], (after as RunState).items);
}

/**
 * M1: a run's spend is the sum of its items', and never more than collections have reported (D26). Integers of
 * nano-USD, so equality is exact.
 */
export function moneyIsConserved(moment: Moment): string | null {
  const { step, facts } = moment;
  const { spentNanoUsd, items } = step.after as RunState;
  const before = step.before as RunState | null;
  // What is added to the items is added to the run: from a run's first state on that is the same as one sum over all of them.
  let addedNanoUsd = 0;
  for (const index of changedItems(moment)) {
    const item = items[index] as RunItem;
    const wasNanoUsd = before?.items[index]?.costNanoUsd ?? 0;
    if (item.costNanoUsd === wasNanoUsd) continue;
    addedNanoUsd += item.costNanoUsd - wasNanoUsd;
    const problem = changed(item, wasNanoUsd, { step, facts });
    if (problem !== null) return problem;
  }
  const spentNow = spentNanoUsd - (before?.spentNanoUsd ?? 0);
  if (addedNanoUsd !== spentNow) return `it spent ${spentNow} nano-USD more, and its items ${addedNanoUsd}`;
  return spentNanoUsd > facts.toldNanoUsd
    ? `it spent ${spentNanoUsd} nano-USD of ${facts.toldNanoUsd} told`
    : null;
}

/** Only a collection changes what an item has cost, and to no more than its conversations were billed. */
function changed(item: RunItem, wasNanoUsd: number, { step, facts }: Moment): string | null {
  const { key, costNanoUsd } = item;
  if (step.event.type !== 'itemCollected' && step.event.type !== 'attemptEnded')
    return `${step.event.type} changed the cost of item "${key}"`;
  if (costNanoUsd < wasNanoUsd) return `the cost of item "${key}" fell from ${wasNanoUsd} to ${costNanoUsd}`;
  const billed = billedFor(item, facts, step.at);
  return costNanoUsd > billed
    ? `item "${key}" cost ${costNanoUsd} nano-USD, and ${billed} were billed for it`
    : null;
}

function billedFor({ conversationId, past }: RunItem, facts: WorldFacts, at: number): number {
  const ids = new Set(conversationId === null ? past : [...past, conversationId]);
  let sum = 0;
  for (const id of ids) sum += facts.spentBy(id, at);
  return sum;
}

/**
 * R2: a run ends with all of its items, a cancelled one begins nothing and leaves no agent at work. Owns the checks on
 * how items and run end together.
 */
export function runsEndWhole(moment: Moment): string | null {
  const before = moment.step.before as RunState | null;
  const { phase, mode, items, closing, awaiting } = moment.step.after as RunState;
  if ((phase === 'closing') !== (closing !== undefined))
    return `it is ${phase}, and its last step ${closing === undefined ? 'has no end' : 'goes on'}`;
  if (closing !== undefined && awaiting === null) return 'it waits for a last step that nobody carries out';
  if (phase === 'finished' && before !== null && before.phase !== 'finished') {
    const taken = before.closing === undefined ? 0 : before.closing.step + 1;
    const wanted = before.rules.finally?.length ?? 0;
    if (taken !== wanted) return `it has finished, and took ${taken} of ${wanted} last steps`;
  }
  // What was right of an item stays right while neither it nor what holds for all items changes.
  const asksTheSame = before?.phase === phase && before.mode === mode;
  for (const index of asksTheSame ? changedItems(moment) : items.keys()) {
    const item = items[index] as RunItem;
    if (phase !== 'running' && item.phase !== 'ended')
      return `it is ${phase}, and item "${item.key}" is ${item.phase}`;
    const atWork = item.phase === 'starting' || item.phase === 'working';
    if (mode === 'cancelling' && item.phase === 'waiting')
      return `it is cancelled, and item "${item.key}" waits`;
    if (mode === 'cancelling' && atWork && item.ending === null)
      return `it is cancelled, and item "${item.key}" was not told to stop`;
    if (atWork && item.ending !== null && item.stopBy === null)
      return `item "${item.key}" was told to stop, and nothing ends the wait for that`;
  }
  return null;
}

/**
 * R3: a run lets go only of sandboxes that are its own, and of none that another conversation needs. Owns the checks on
 * orders to clean up, and the memory of what could not be collected.
 */
export function cleanedUpWithCare(): SafetyCheck {
  const uncollected = new Set<string>();
  return ({ step }: Moment) => {
    const before = step.before as RunState | null;
    const after = step.after as RunState;
    const { event } = step;
    if (event.type === 'collectFailed' && after.rules.cleanup.onCollectFailure === 'keep') {
      const sandboxId = before?.items[event.index]?.sandboxId ?? null;
      if (sandboxId !== null) uncollected.add(keyOf(after, sandboxId));
    }
    if (event.type === 'attemptEnded' && event.isUncollected && event.sandboxId !== null)
      uncollected.add(keyOf(after, event.sandboxId));
    // One in which an agent is at work is the run's all the same, and may be ordered again at once.
    if (event.type === 'sandboxCleanedUp' && !event.isOurs && event.isBusy !== true) {
      const asked = after.sandboxes.find(
        ({ sandboxId, state }) => sandboxId === event.sandboxId && state === 'asked',
      );
      if (asked !== undefined)
        return `sandbox ${event.sandboxId} is left to others, and it waits for its end`;
    }
    return undone(step) ?? cutOff(step, uncollected);
  };
}

/** By run: what one run keeps does not concern another; a sandbox of both is left alone when it is claimed (D11). */
function keyOf({ runId }: RunState, sandboxId: string): string {
  return `${runId} ${sandboxId}`;
}

/** What a user has paused comes back when its user wants it. */
function undone({ event, commands }: Moment['step']): string | null {
  if (event.type !== 'conversationNoticed' || event.conversation.pauseReason !== 'user') return null;
  const goesOn = commands.some(
    (command) => command.type === 'send' && command.event.type === 'continueRequested',
  );
  return goesOn
    ? `conversation ${event.conversation.conversationId} goes on, and its user has paused it`
    : null;
}

function cutOff({ commands, after }: Moment['step'], uncollected: ReadonlySet<string>): string | null {
  const run = after as RunState;
  const { rules, items } = run;
  for (const command of commands) {
    if (command.type !== 'cleanUpSandbox') continue;
    const { sandboxId } = command;
    // What is kept may be ordered to rest while the run needs its slot: its files stay (D29).
    const rests = command.how === 'pause' && command.whileRunning === true;
    if (sandboxId === rules.explicitSandboxId || (rules.cleanup.sandbox === 'keep' && !rests))
      return `sandbox ${sandboxId} is cleaned up, and it is to be kept`;
    if (uncollected.has(keyOf(run, sandboxId)) && command.how === 'delete')
      return `sandbox ${sandboxId} is removed, and what it holds could not be collected`;
    const needed = items.find(
      (item) =>
        item.sandboxId === sandboxId &&
        (isInFlight(item) || (item.phase === 'ended' && item.ending?.outcome === 'waiting')),
    );
    if (needed !== undefined) return `sandbox ${sandboxId} is cleaned up, and item "${needed.key}" needs it`;
  }
  return null;
}

/**
 * R4: an item in flight stays what it was given, whatever becomes of the plan meanwhile; its next attempt takes that
 * over. What an item is given is taken with its attempt.
 */
export function itemsStayAsGiven(moment: Moment): string | null {
  const before = moment.step.before as RunState | null;
  const { items } = moment.step.after as RunState;
  for (const index of before === null ? [] : changedItems(moment)) {
    const [was, is] = [before?.items[index], items[index] as RunItem];
    if (was?.next !== undefined && is.attempt > was.attempt && is.plan !== was.next.plan)
      return `item "${is.key}" begins as it was before its plan was amended`;
    if (was === undefined || !isInFlight(was) || !isInFlight(is) || was.attempt !== is.attempt) continue;
    if (
      was.plan !== is.plan ||
      was.hasVerify !== is.hasVerify ||
      was.workingMs !== is.workingMs ||
      JSON.stringify(was.own) !== JSON.stringify(is.own)
    )
      return `item "${is.key}" is in flight, and has become another one`;
  }
  return null;
}

/**
 * L11: a run and its shards hold the same of every item. Owns the comparison of what has come to rest; an item in
 * flight is so for both, in whatever phase its shard has it.
 */
export function shardsAgree(rest: Rest): readonly Finding[] {
  const shards = new Map(shardsAt(rest).map(({ entity, state }) => [entity, state]));
  return runsAt(rest).flatMap(({ entity, state }) =>
    state.shards === undefined ? [] : disagreements(entity, state, shards),
  );
}

function disagreements(
  entity: string,
  run: RunState,
  shards: ReadonlyMap<string, RunState>,
): readonly Finding[] {
  return run.items.flatMap((item, index) => {
    const shard = shards.get(addressKey(shardAddress(run.runId, shardOf(run, index))));
    const own = shard === undefined ? undefined : itemAt(shard, index);
    if (own !== undefined && known(own) === known(item)) return [];
    const said = own === undefined ? 'has no shard' : `is ${known(own)} in its shard`;
    return [{ entity, problem: `item "${item.key}" is ${known(item)}, and ${said}` }];
  });
}

function known(item: RunItem): string {
  const phase = isInFlight(item) ? 'in flight' : item.phase;
  return `${phase} in attempt ${item.attempt} for ${item.costNanoUsd} nano-USD`;
}
