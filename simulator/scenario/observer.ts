/**
 * What expectations see of a play: the states of the machines and the facts of the world, under the names of
 * dsl/expression/observation.ts.
 * Owns the reading, and what may be kept from one observation to the next; must not decide or change anything. Almost
 * every step is observed, so a part that no expectation uses is not read.
 */
import type { ItemPhase } from '../../core/machine/projection.ts';
import { NANO_PER_USD } from '../../core/money/money.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import type { ConversationState } from '../../core/conversation/state.ts';
import { changedPositions } from '../../core/run/amend/changed-positions.ts';
import { indexAt, type RunState, countBy, isInFlight, type RunItem } from '../../core/run/state.ts';
import type { SandboxId } from '../../core/ids.ts';
import { type SandboxState, transitionOf } from '../../core/sandbox/state.ts';
import { endedWell } from '../../core/status.ts';
import type { ConversationSeen, Observation, SandboxSeen } from '../../dsl/expression/observation.ts';
import { onceEach } from '../../dsl/plan/once.ts';
import { slotsMaxOf } from '../models/model-options.ts';
import { hostedItem } from '../hosted-item.ts';
import type { PlanPlay } from '../plan-play.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { Tally } from './tally.ts';

/** What is played: a plan's entities, and the world behind them. */
type Observed = Pick<PlanPlay, 'run' | 'peak' | 'simulation' | 'world'>;

export class Observer {
  private readonly plan: Plan;
  private readonly startAt: number;
  private readonly tally = new Tally();
  /** The same list as long as nothing in it changes: the expression language converts it only once. */
  private convs: readonly ConversationSeen[] = [];
  private readonly stale = new Set<number>();
  private readonly sandboxes = new Map<SandboxId, SandboxState>();
  private readonly sandboxesSeen = new WeakMap<SandboxState, { now: number; seen: SandboxSeen }>();
  private readonly itemsIn = new Map<SandboxId, Set<number>>();

  constructor(plan: Plan, startAt: number) {
    this.plan = plan;
    this.startAt = startAt;
    for (const index of plan.items.keys()) this.stale.add(index);
  }

  /** Takes note of a step; false when nothing that expectations can read has changed by it. */
  see(step: SimulationStep): boolean {
    this.tally.add(step);
    const { address, before, after } = step;
    switch (address.machine) {
      case 'run':
      case 'shard':
        return this.seeItems(before as RunState | null, after as RunState);
      case 'conversation':
        return this.seeConversation(before as ConversationState | null, after as ConversationState);
      case 'sandbox':
        return this.seeSandbox(before as SandboxState | null, after as SandboxState);
    }
  }

  /** As it stands now: to be read before the play goes on, because a part is read on its first use. */
  observe(play: Observed): Observation {
    const { run, simulation, world } = play;
    const now = simulation.now();
    return onceEach<Observation>({
      elapsed_ms: () => now - this.startAt,
      convs: () => this.refreshed(play),
      sandboxes: () => [...this.sandboxes.values()].map((state) => this.sandboxAt(state, { world, now })),
      capacity: () => ({
        in_use: BigInt(world.slots.size),
        max: BigInt(slotsMaxOf(world.policy.capacity)),
        peak: BigInt(play.peak.count),
      }),
      pool: () => this.poolSeen(play),
      budget: () => budgetSeen(run),
      run: () => runSeen(run),
      summary: () => summarySeen(run, this.tally, { startAt: this.startAt, now }),
    });
  }

  private seeItems(before: RunState | null, after: RunState): boolean {
    for (const position of changedPositions(before?.items ?? [], after.items)) {
      const index = indexAt(after, position);
      const sandboxId = after.items[position]?.sandboxId ?? null;
      this.stale.add(index);
      if (sandboxId !== null) this.joins(sandboxId, index);
    }
    return true;
  }

  private seeConversation(before: ConversationState | null, after: ConversationState): boolean {
    const index = after.spec.itemIndex;
    if (index === null || after.executionStatus === before?.executionStatus) return false;
    this.stale.add(index);
    return true;
  }

  private seeSandbox(before: SandboxState | null, after: SandboxState): boolean {
    this.sandboxes.set(after.sandboxId, after);
    for (const index of this.itemsIn.get(after.sandboxId) ?? []) this.stale.add(index);
    return before === null || shown(before) !== shown(after);
  }

  /** What neither changed nor ages is seen as the same object: the expression language converts it only once. */
  private sandboxAt(
    state: SandboxState,
    { world: { hosts }, now }: { readonly world: Observed['world']; readonly now: number },
  ): SandboxSeen {
    const kept = this.sandboxesSeen.get(state);
    if (kept !== undefined && (kept.now === now || state.status === 'MISSING')) return kept.seen;
    const seen = { ...sandboxSeen(state, now), host: hosts?.homeOf(state.sandboxId) ?? '' };
    this.sandboxesSeen.set(state, { now, seen });
    return seen;
  }

  private poolSeen({ run, world }: Observed): Observation['pool'] {
    const members = run === null ? [] : world.pools.membersOf(run.runId);
    const up = members.filter(({ sandboxId }) => this.sandboxes.get(sandboxId)?.phase === 'running');
    return {
      ready: BigInt(up.length),
      in_use: BigInt(members.filter(({ heldCount }) => heldCount > 0).length),
      size: BigInt(run?.rules.pool?.size ?? 0),
    };
  }

  private joins(id: SandboxId, index: number): void {
    const items = this.itemsIn.get(id) ?? new Set();
    this.itemsIn.set(id, items.add(index));
  }

  private refreshed({ run, simulation }: Observed): readonly ConversationSeen[] {
    if (this.stale.size === 0) return this.convs;
    const convs = [...this.convs];
    for (const index of this.stale) {
      const item = this.plan.items[index];
      if (item === undefined) continue;
      const present = run === null ? null : hostedItem(simulation, run, index);
      const { conversationId: id = null, sandboxId = null } = present ?? {};
      const conversation = id === null ? null : simulation.stateOf({ machine: 'conversation', id });
      convs[index] = conversationSeen(item, {
        item: present,
        conversation: conversation as ConversationState | null,
        sandbox: sandboxId === null ? null : (this.sandboxes.get(sandboxId) ?? null),
        collected: this.tally.isCollected(index),
      });
    }
    this.stale.clear();
    this.convs = convs;
    return convs;
  }
}

/** The fields of a sandbox that expectations can read, the present time aside. */
function shown(state: SandboxState): string {
  const { phase, status, pauseReason, generation, sessionStartedAt, releasedAt, attached } = state;
  return [
    phase,
    status,
    pauseReason,
    generation,
    sessionStartedAt,
    releasedAt,
    Object.keys(attached).length,
  ].join();
}

/** Without a budget there is no limit: every amount is below it. */
function budgetSeen(run: RunState | null): Observation['budget'] {
  const budget = run?.rules.budget ?? null;
  const inFlight = run === null ? 0 : countBy(run.items, isInFlight);
  return {
    spent_usd: (run?.spentNanoUsd ?? 0) / NANO_PER_USD,
    reserved_usd: (inFlight * (budget?.reserveNanoUsd ?? 0)) / NANO_PER_USD,
    limit_usd: budget === null ? Infinity : budget.nanoUsd / NANO_PER_USD,
  };
}

function runSeen(run: RunState | null): Observation['run'] {
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

function summarySeen(
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

interface Present {
  /** Null before the run began. */
  readonly item: RunItem | null;
  readonly conversation: ConversationState | null;
  readonly sandbox: SandboxState | null;
  readonly collected: boolean;
}

/** One conversation of a plan and one sandbox, as expectations see them. */
function conversationSeen(
  planned: PlanItem,
  { item, conversation, sandbox, collected }: Present,
): ConversationSeen {
  const ended = item?.phase === 'ended';
  return {
    key: planned.key,
    id: item?.conversationId ?? '',
    phase: phaseWord(item?.phase ?? 'waiting'),
    status: sandbox?.status ?? '',
    pause_reason: sandbox?.pauseReason ?? '',
    execution_status: conversation?.executionStatus ?? '',
    outcome: ended ? (item.ending?.outcome ?? '') : '',
    terminal: ended,
    collected,
    attempts: BigInt(item?.attempt ?? 0),
    cost_usd: (item?.costNanoUsd ?? 0) / NANO_PER_USD,
    repo: planned.repository?.name ?? '',
    model: planned.model,
    tags: planned.tags,
    sandbox: item?.sandboxId ?? '',
  };
}

function phaseWord(phase: ItemPhase): string {
  return phase === 'waiting' ? 'queued' : phase;
}

function sandboxSeen(state: SandboxState, now: number): Omit<SandboxSeen, 'host'> {
  const { sandboxId, status, pauseReason, generation, attached, sessionStartedAt, releasedAt } = state;
  const isGone = status === 'MISSING';
  return {
    id: sandboxId,
    status,
    pause_reason: pauseReason ?? '',
    transition: transitionOf(state) ?? '',
    generation: BigInt(generation),
    conversations: BigInt(Object.keys(attached).length),
    session_ms: isGone || sessionStartedAt === null ? 0 : now - sessionStartedAt,
    released_ms: isGone || releasedAt === null ? 0 : now - releasedAt,
  };
}
