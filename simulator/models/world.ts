/**
 * The world behind the commands: runtime, placement, Agent Servers, gateway and store as one model.
 * Owns when each command's outcome comes and what it is; must not know a rule of the machines.
 */
import { latestActivity } from '../../core/sandbox/activity.ts';
import type { ActivityCommand, CommandOf, MachineEvent } from '../../core/machine/command.ts';
import type { ConversationId, EntityAddress, RunId, SandboxId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { MESSAGE_REFUSED, type ProjectionRow } from '../../core/machine/projection.ts';
import type { ModelPort, WorldModel } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { WorldFacts } from '../world-facts.ts';
import { AgentIncidents } from '../faults/agent-incidents.ts';
import type { Injector } from '../faults/injector.ts';
import { RuntimeIncidents } from '../faults/runtime-incidents.ts';
import type { HostWorkers } from '../hosts/host-workers.ts';
import { hostsOf, liveInSight, turnsWithHost } from '../hosts/world-on-hosts.ts';
import { AgentsModel } from './agents-model.ts';
import { Attempts } from './attempts.ts';
import { drawAs } from './distribution.ts';
import { failureOf, Failures } from './failures.ts';
import { durationOf, type ModelOptions, type Policy } from './model-options.ts';
import { IdleWatches } from './idle-watches.ts';
import { isAnswer, Outcomes, type CarriedOut } from './outcomes.ts';
import { PlacementModel } from './placement-model.ts';
import { RunModel } from './run-model.ts';
import { RuntimeModel, type Loss } from './runtime-model.ts';
import { SlotSeeker } from './slot-seeker.ts';

export interface WorldOptions {
  readonly models: ModelOptions;
  readonly policy: Policy;
  readonly random: RandomStream;
  /** Decides which faults of runtimes and agents strike; absent: none ever does. */
  readonly injector?: Injector;
}

interface Troubles {
  readonly runtime: RuntimeIncidents;
  readonly agents: AgentIncidents;
}

/** Carries out what machines order, and answers the queries of checkers. */
export class World implements WorldModel, WorldFacts {
  readonly runtime: RuntimeModel;
  readonly placement: PlacementModel;
  readonly agents: AgentsModel;
  readonly runs: RunModel;
  readonly policy: Policy;
  /** Null: sandboxes are bound to no host. */
  readonly hosts: HostWorkers | null;
  readonly refused = new Map<string, number>();
  readonly accepted = new Map<string, ConversationId>();
  private readonly watches: IdleWatches;
  private readonly port: ModelPort;
  private readonly models: ModelOptions;
  private readonly random: RandomStream;
  private readonly failures: Failures;
  private readonly seeker: SlotSeeker;
  private readonly outcomes: Outcomes;
  private readonly attempts: Attempts | null = null;
  private readonly troubles: Troubles | null = null;

  constructor(outer: ModelPort, { models, policy, random, injector }: WorldOptions) {
    this.hosts = hostsOf(this, outer, policy);
    const port = (this.port = this.hosts ?? outer);
    this.models = models;
    this.policy = policy;
    this.random = random;
    const { pollMs } = models;
    this.runtime = new RuntimeModel(port, (id) => this.watches.pollAfter(id, pollMs));
    this.placement = new PlacementModel(policy, this.hosts);
    this.agents = new AgentsModel(port, models, random);
    this.runs = new RunModel(policy.grouping);
    this.failures = new Failures(models.failures, random);
    const lastActivityAt = (id: SandboxId): number => this.lastActivityAt(id, port.now());
    const idleAt = (id: SandboxId, idleTimeMs: number): number => this.idleAt(id, idleTimeMs);
    const { runtime, placement, agents, runs, failures, accepted } = this;
    const shared = { port, models, policy, random, placement, failures };
    this.watches = new IdleWatches(port, { pollMs, runtime, idleness: { lastActivityAt, idleAt } });
    const { watches } = this;
    this.agents.onCut = (id) => this.reconsider(id);
    this.outcomes = new Outcomes({ ...shared, runtime, watches, agents, runs, accepted });
    this.seeker = new SlotSeeker({ ...shared, lastActivityAt });
    if (injector === undefined) return;
    this.troubles = this.makeTroubles(injector);
    const { outcomes } = this;
    const incidents = this.troubles.runtime;
    this.attempts = new Attempts({ ...shared, runtime, outcomes, injector, incidents });
  }

  get live() {
    return liveInSight(this.runtime.live, this.hosts);
  }
  get pools() {
    return this.placement.pools;
  }
  isGoing(sandboxId: SandboxId): boolean {
    return this.placement.isGoing(sandboxId);
  }

  get slots() {
    return this.placement.slots.holders;
  }
  turns() {
    return turnsWithHost(this.placement.slots.nextInLine(), this.hosts);
  }
  get archived() {
    return this.runtime.archived;
  }
  get delivered() {
    return this.agents.delivered;
  }
  get toldNanoUsd() {
    return this.runs.toldNanoUsd;
  }

  addPlan(runId: RunId, plan: Plan): void {
    this.runs.addPlan(runId, plan);
  }

  planOf(runId: RunId, planHash: string): Plan | null {
    return this.runs.planOf(runId, planHash);
  }

  project(rows: readonly ProjectionRow[]): void {
    this.placement.project(rows);
  }

  wasUp(sandboxId: SandboxId, generation: number): boolean {
    return this.runtime.wasReady(sandboxId, generation);
  }

  foreign(): Iterable<SandboxId> {
    return this.runtime.foreign.ids();
  }

  lastActivityAt(sandboxId: SandboxId, now: number): number {
    const { placement, agents } = this;
    const ofAgents = [...placement.membersOf(sandboxId)].map(
      (id) => agents.find(id)?.lastActivityAt(now) ?? null,
    );
    return latestActivity(this.contactAt(sandboxId), ofAgents);
  }

  /** A user reads a workspace: one that is released is resumed for it, and that counts once it is up (D7, D9). */
  hears({ machine, id }: EntityAddress, { type }: MachineEvent): void {
    if (machine !== 'conversation' || type !== 'accessRequested') return;
    const home = this.placement.openTo(id as ConversationId);
    if (home !== null) this.runtime.contact(home, { kind: 'workspace' });
  }

  /** A runtime fails without an order; agents in it work on only where it just cannot be queried. */
  lose(sandboxId: SandboxId, loss: Loss): void {
    this.runtime.lose(sandboxId, loss);
    if (loss !== 'unknown') this.agents.die(this.placement.membersOf(sandboxId));
  }

  /** It can be queried again. */
  find(sandboxId: SandboxId): void {
    this.runtime.find(sandboxId);
    this.agents.revive(this.placement.membersOf(sandboxId));
  }

  /** Every fault under way ends: what is frozen thaws, what is away answers, what is short is there again. */
  heal(): void {
    this.troubles?.runtime.heal();
    this.troubles?.agents.heal();
    this.hosts?.heal();
    this.agents.strike(null);
  }

  transcriptOf(id: ConversationId): number {
    return this.agents.find(id)?.transcript ?? 0;
  }

  spentBy(id: ConversationId, now: number): number {
    return this.agents.find(id)?.spentBy(now) ?? 0;
  }

  begin(command: ActivityCommand): void {
    this.troubles?.agents.moment(command);
    if (this.hosts?.admits(command) === false) return;
    switch (command.type) {
      case 'watchIdle':
        return this.watches.begin(command);
      case 'watchAgent':
        return this.agents.watch(command);
      case 'record':
        return this.record(command);
      case 'placeConversation':
      case 'reserveSlot':
        return this.seeker.seek(command);
      default:
        return this.carryOut(command);
    }
  }

  private makeTroubles(injector: Injector): Troubles {
    const { port, runtime, watches, agents, placement, models, outcomes } = this;
    const inside = {
      cut: (id: SandboxId) => agents.cut(placement.membersOf(id)),
      stand: (id: SandboxId) => agents.stand(placement.membersOf(id), 'runtime'),
      walk: (id: SandboxId) => agents.walk(placement.membersOf(id), 'runtime'),
    };
    const { pollMs } = models;
    const incidents = new RuntimeIncidents({ port, injector, runtime, watches, agents: inside, pollMs });
    outcomes.incarnations = incidents;
    return { runtime: incidents, agents: new AgentIncidents({ port, injector, agents, pollMs }) };
  }

  /** When it was created, or something that counts last reached it. */
  private contactAt(sandboxId: SandboxId): number {
    const since = this.placement.rows.get(sandboxId)?.createdAt ?? 0;
    return latestActivity(since, [this.runtime.touched.get(sandboxId) ?? null]);
  }

  /** Not before all that is known of it has been quiet for so long. */
  private idleAt(sandboxId: SandboxId, idleTimeMs: number): number {
    const now = this.port.now();
    let at = this.contactAt(sandboxId) + idleTimeMs;
    for (const id of this.placement.membersOf(sandboxId))
      at = Math.max(at, this.agents.find(id)?.idleAt(now, idleTimeMs) ?? 0);
    return at;
  }

  private reconsider(id: ConversationId): void {
    const home = this.placement.homeOf(id);
    if (home !== null) this.watches.reconsider(home);
  }

  private record(command: CommandOf<'record'>): void {
    const { code, detail } = command.event;
    if (code === MESSAGE_REFUSED) {
      const messageId = detail.slice(0, detail.indexOf(': '));
      this.refused.set(messageId, (this.refused.get(messageId) ?? 0) + 1);
    }
    this.port.later(command.id, this.port.now(), () => this.port.answer(command, null));
  }

  private carryOut(command: CarriedOut): void {
    if (this.attempts !== null) return this.attempts.begin(command);
    const { port, models, outcomes } = this;
    const at = port.now() + drawAs(durationOf(models, command.type), this.random, `time/${command.id}`);
    port.later(command.id, at, () => {
      const outcome = this.failures.fails(command) ? failureOf(command) : outcomes.of(command);
      port.answer(command, isAnswer(outcome) ? outcome : failureOf(command));
    });
  }
}
