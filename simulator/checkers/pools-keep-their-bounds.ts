/**
 * R5: a pool has no more sandboxes than its size, none of them more conversations than its places, no strangers, and no
 * conversation of its own run elsewhere unless it spills.
 * Owns the memory of which conversation is where, as the machines report it; the placement is not computed again.
 */
import type { ConversationState } from '../../core/conversation/state.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { PlanPool } from '../../core/placement/place-in-pool.ts';
import { isInFlight, type RunState } from '../../core/run/state.ts';
import { isLeaving } from '../../core/sandbox/row.ts';
import { transitionOf, type SandboxState } from '../../core/sandbox/state.ts';
import type { SimulationStep } from '../simulation-options.ts';
import type { PoolJoin, WorldFacts } from '../world-facts.ts';
import { changedItems } from './of-runs.ts';
import { PUNCTUAL, type Moment, type SafetyCheck } from './checker.ts';

export function poolsKeepTheirBounds(): SafetyCheck {
  const memory = new PoolMemory();
  return (moment) => memory.sees(moment);
}

class PoolMemory {
  /** By run: only those that have a pool. */
  private readonly rules = new Map<string, PlanPool>();
  /** By pool, in the order in which they joined. */
  private readonly members = new Map<string, PoolJoin[]>();
  private joinsSeen = 0;
  /** Sandboxes that have ended, or are on their way there. */
  private readonly ended = new Set<string>();
  /** Conversations whose attempt is over: they take no place any more. */
  private readonly over = new Set<string>();
  private readonly homes = new Map<string, string>();
  /** By sandbox: the conversations that take a place in it. */
  private readonly occupants = new Map<string, Set<string>>();

  sees(moment: Moment): string | null {
    const { step, facts, timeliness = PUNCTUAL } = moment;
    this.note(moment);
    // Its machine told when a sandbox began: by a clock that was off, it is recycled so much earlier.
    return this.grown(facts, step.at + timeliness.clockOffMs) ?? this.moved(step, facts);
  }

  private note(moment: Moment): void {
    const { address, after } = moment.step;
    if (address.machine === 'run' || address.machine === 'shard') this.noteRun(moment);
    else if (address.machine === 'sandbox' && isEnding(after as SandboxState)) this.ended.add(address.id);
  }

  private noteRun(moment: Moment): void {
    const { runId, rules, items } = moment.step.after as RunState;
    if (rules.pool === undefined) return;
    this.rules.set(runId, rules.pool);
    for (const index of changedItems(moment)) {
      const item = items[index];
      if (item === undefined) continue;
      for (const id of item.past) this.leave(id);
      if (item.conversationId !== null && !isInFlight(item)) this.leave(item.conversationId);
    }
  }

  private leave(id: string): void {
    this.over.add(id);
    this.moveOut(id);
  }

  /** A pool grows only when a sandbox joins it: whatever else happens makes it smaller. */
  private grown(facts: WorldFacts, now: number): string | null {
    const { joined } = facts.pools;
    let problem: string | null = null;
    for (; this.joinsSeen < joined.length; this.joinsSeen += 1) {
      const join = joined[this.joinsSeen] as PoolJoin;
      const before = this.members.get(join.poolId) ?? [];
      const stay = before.filter(({ sandboxId }) => !this.hasEnded(sandboxId, facts));
      this.members.set(join.poolId, [...stay, join]);
      problem ??= this.tooLarge(join, facts, now);
    }
    return problem;
  }

  private tooLarge({ poolId }: PoolJoin, facts: WorldFacts, now: number): string | null {
    const rules = this.rules.get(poolId);
    if (rules === undefined) return null;
    const living = (this.members.get(poolId) ?? []).filter((one) =>
      this.isLiving(one, rules, { facts, now }),
    );
    return living.length > rules.size
      ? `the pool of run ${poolId} has ${living.length} sandboxes, and may have ${rules.size}`
      : null;
  }

  /** One that is recycled and empty makes room for another, though it may be up for a while. */
  private isLiving(
    { sandboxId, joinedAt }: PoolJoin,
    rules: PlanPool,
    { facts, now }: { readonly facts: WorldFacts; readonly now: number },
  ): boolean {
    if (this.hasEnded(sandboxId, facts)) return false;
    if ((this.occupants.get(sandboxId)?.size ?? 0) > 0) return true;
    const { recycleAfter, recycleAgeMs } = rules;
    if (recycleAfter !== null && facts.pools.placedIn(sandboxId) >= recycleAfter) return false;
    return recycleAgeMs === null || now < joinedAt + recycleAgeMs;
  }

  /** For good: nothing brings it back. */
  private hasEnded(sandboxId: SandboxId, facts: WorldFacts): boolean {
    return this.ended.has(sandboxId) || facts.isGoing(sandboxId);
  }

  /** Called when a conversation says that it is somewhere else than before. */
  private moved({ address, before, after }: SimulationStep, facts: WorldFacts): string | null {
    if (address.machine !== 'conversation') return null;
    const { sandboxId, spec, phase } = after as ConversationState;
    if (phase === 'deleting' || phase === 'deleted') this.moveOut(address.id);
    if (sandboxId === ((before as ConversationState | null)?.sandboxId ?? null)) return null;
    this.moveOut(address.id);
    // An explicit choice goes before every pool, and takes no place of one (D16).
    if (sandboxId === null || spec.sandboxId !== null) return null;
    const owner = facts.pools.ownerOf(sandboxId);
    if (owner !== null && owner !== spec.runId)
      return `it is in ${sandboxId}, which belongs to the pool of run ${owner}`;
    const rules = spec.runId === null ? undefined : this.rules.get(spec.runId);
    if (rules === undefined) return null;
    if (owner === null)
      return rules.onFull === 'spill' ? null : `it is in ${sandboxId}, outside the pool of its run`;
    const placed = facts.pools.placedIn(sandboxId);
    if (rules.recycleAfter !== null && placed > rules.recycleAfter)
      return `it is number ${placed} in ${sandboxId}, which is recycled after ${rules.recycleAfter}`;
    if (phase === 'deleting' || this.over.has(address.id)) return null;
    return this.moveIn(address.id, sandboxId, Math.min(rules.maxPerSandbox, sandboxMax(facts)));
  }

  private moveIn(id: string, sandboxId: string, max: number): string | null {
    const occupants = this.occupants.get(sandboxId) ?? new Set();
    this.occupants.set(sandboxId, occupants.add(id));
    this.homes.set(id, sandboxId);
    return occupants.size > max
      ? `${occupants.size} conversations have a place in ${sandboxId}, and ${max} may`
      : null;
  }

  private moveOut(id: string): void {
    const home = this.homes.get(id);
    if (home === undefined) return;
    this.homes.delete(id);
    this.occupants.get(home)?.delete(id);
  }
}

function isEnding(state: SandboxState): boolean {
  return state.status === 'ERROR' || state.status === 'MISSING' || isLeaving(transitionOf(state));
}

/** The deployment's limit counts when it is lower (D17). */
function sandboxMax({ policy }: WorldFacts): number {
  return policy.capacity.conversationsPerSandboxMax;
}
