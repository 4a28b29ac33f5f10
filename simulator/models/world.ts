/**
 * The world behind the commands: runtime, placement, Agent Servers, gateway and store as one model.
 * Owns when each command's outcome comes and what it is; must not know a rule of the machines.
 */
import type { ActivityCommand, CommandOf, MachineEvent } from '../../core/command.ts';
import type { ConversationId, RunId, SandboxId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan.ts';
import type { ProjectionRow } from '../../core/projection.ts';
import type { ModelPort, WorldModel } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { WorldFacts } from '../world-facts.ts';
import { AgentsModel } from './agents-model.ts';
import { draw } from './distribution.ts';
import { failureOf, Failures } from './failures.ts';
import { durationOf, type ModelOptions, type Policy } from './model-options.ts';
import { PlacementModel } from './placement-model.ts';
import { RunModel } from './run-model.ts';
import { RuntimeModel } from './runtime-model.ts';
import { SlotSeeker, type Slotted } from './slot-seeker.ts';

export interface WorldOptions {
  readonly models: ModelOptions;
  readonly policy: Policy;
  readonly random: RandomStream;
}

/** A command that is not answered by the end of its time alone. */
type Watching = CommandOf<'watchIdle'> | CommandOf<'watchAgent'>;

export class World implements WorldModel, WorldFacts {
  readonly runtime: RuntimeModel;
  readonly placement: PlacementModel;
  readonly agents: AgentsModel;
  readonly runs: RunModel;
  readonly policy: Policy;
  readonly refused = new Map<string, number>();
  readonly accepted = new Map<string, ConversationId>();
  private readonly port: ModelPort;
  private readonly models: ModelOptions;
  private readonly random: RandomStream;
  private readonly failures: Failures;
  private readonly seeker: SlotSeeker;

  constructor(port: ModelPort, { models, policy, random }: WorldOptions) {
    this.port = port;
    this.models = models;
    this.policy = policy;
    this.random = random;
    this.runtime = new RuntimeModel(port, models.pollMs);
    this.placement = new PlacementModel(policy);
    this.agents = new AgentsModel(port, models, random);
    this.runs = new RunModel(policy.grouping);
    this.failures = new Failures(models.failures, random);
    const { placement, agents, failures } = this;
    const lastActivityAt = (id: SandboxId): number => this.lastActivityAt(id, port.now());
    this.seeker = new SlotSeeker({
      port,
      models,
      policy,
      random,
      placement,
      agents,
      failures,
      lastActivityAt,
    });
  }

  get live() {
    return this.runtime.live;
  }
  get slots() {
    return this.placement.slots;
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

  project(rows: readonly ProjectionRow[]): void {
    this.placement.project(rows);
  }

  lastActivityAt(sandboxId: SandboxId, now: number): number {
    let last = this.runtime.touched.get(sandboxId) ?? 0;
    for (const id of this.placement.membersOf(sandboxId))
      last = Math.max(last, this.agents.find(id)?.lastActivityAt(now) ?? 0);
    return last;
  }

  transcriptOf(id: ConversationId): number {
    return this.agents.find(id)?.transcript ?? 0;
  }

  spentBy(id: ConversationId, now: number): number {
    return this.agents.find(id)?.spentBy(now) ?? 0;
  }

  begin(command: ActivityCommand): void {
    switch (command.type) {
      case 'watchIdle':
      case 'watchAgent':
        return this.watch(command);
      case 'record':
        return this.record(command);
      case 'placeConversation':
      case 'reserveSlot':
        return this.seeker.seek(command);
      default:
        return this.carryOut(command);
    }
  }

  private watch(command: Watching): void {
    if (command.type === 'watchAgent') return this.agents.watch(command);
    this.runtime.watchIdle(command, () => this.lastActivityAt(command.sandboxId, this.port.now()));
  }

  private record(command: CommandOf<'record'>): void {
    const { code, detail } = command.event;
    if (code === 'message_refused') {
      const messageId = detail.slice(0, detail.indexOf(': '));
      this.refused.set(messageId, (this.refused.get(messageId) ?? 0) + 1);
    }
    this.port.later(command.id, this.port.now(), () => this.port.answer(command, null));
  }

  private carryOut(command: Exclude<ActivityCommand, Watching | Slotted | CommandOf<'record'>>): void {
    const at =
      this.port.now() + draw(durationOf(this.models, command.type), this.random.split(`time/${command.id}`));
    this.port.later(command.id, at, () => {
      const event = this.failures.fails(command) ? failureOf(command) : this.outcomeOf(command);
      this.port.answer(command, event);
    });
  }

  private outcomeOf(command: Parameters<World['carryOut']>[0]): MachineEvent | null {
    const commandId = command.id;
    switch (command.type) {
      case 'createSandbox':
      case 'resumeSandbox':
        return this.start(command);
      case 'stopSandbox':
        this.stop(command);
        return { type: 'sandboxStopped', commandId };
      case 'archiveWorkspace':
        this.runtime.archived.add(command.sandboxId);
        return { type: 'workspaceArchived', commandId };
      case 'destroySandbox':
        this.stop(command);
        return { type: 'sandboxDestroyed', commandId };
      case 'removeConversation':
        return {
          type: 'conversationRemoved',
          commandId,
          sandboxToRemove: this.placement.detach(command.conversationId),
        };
      case 'startConversation':
      case 'verifyItem':
      case 'collectItem':
      case 'cleanUpSandbox':
      case 'reconcileRun':
      case 'reportRun':
        return this.outcomeForRun(command);
      default:
        return this.outcomeOfAgent(command);
    }
  }

  private start(command: CommandOf<'createSandbox'> | CommandOf<'resumeSandbox'>): MachineEvent {
    const { id: commandId, sandboxId, generation } = command;
    const row = this.placement.rows.get(sandboxId);
    // A deletion that came in between is never undone (D14).
    if (row?.transition === 'deleting' || row?.status === 'MISSING')
      return { type: 'sandboxFailed', commandId, reason: 'it is being deleted' };
    this.runtime.up(sandboxId, generation);
    return { type: 'sandboxReady', commandId };
  }

  private stop({
    sandboxId,
    generation,
  }: {
    readonly sandboxId: SandboxId;
    readonly generation: number;
  }): void {
    this.runtime.down(sandboxId, generation);
    this.agents.cut(this.placement.membersOf(sandboxId));
  }

  private outcomeOfAgent(command: AgentCommand): MachineEvent | null {
    const commandId = command.id;
    if (!this.runtime.isUp(command.sandboxId, command.generation)) return failureOf(command);
    switch (command.type) {
      case 'prepareRepository':
        return { type: 'repositoryPrepared', commandId };
      case 'runSetupScript':
        return { type: 'setupScriptRan', commandId };
      case 'setUpGitHooks':
        return { type: 'gitHooksSetUp', commandId };
      case 'setUpSkills':
        return { type: 'skillsSetUp', commandId };
      case 'openAgent':
        return { type: 'agentOpened', commandId, report: this.agents.open(command) };
      case 'deliverItem':
        this.runtime.touched.set(command.sandboxId, this.port.now());
        return {
          type: 'itemDelivered',
          commandId,
          itemId: command.item.itemId,
          report: this.agents.deliver(command),
        };
      case 'interruptAgent':
        this.agents.interrupt(command);
        return { type: 'agentInterrupted', commandId };
    }
  }

  private outcomeForRun(command: RunCommandOut): MachineEvent | null {
    const commandId = command.id;
    switch (command.type) {
      case 'startConversation':
        return this.startConversation(command);
      case 'verifyItem': {
        const name = `verify/${command.conversationId}`;
        const passed = !this.random.split(name).happens(this.models.checkFails);
        return {
          type: 'itemVerified',
          commandId,
          index: command.index,
          passed,
          detail: passed ? null : 'exit code 1',
        };
      }
      case 'collectItem':
        return this.runs.collected(command, this.spentBy(command.conversationId, this.port.now()));
      case 'cleanUpSandbox':
        return this.cleanUp(command);
      case 'reconcileRun':
        return this.runs.reconciled(command);
      case 'reportRun':
        return { type: 'runReported', commandId };
    }
  }

  /** Claimed first, then asked: whoever is placed in between finds it going (D11). */
  private cleanUp({ id: commandId, runId, sandboxId, how }: CommandOf<'cleanUpSandbox'>): MachineEvent {
    const toRemove = how === 'delete';
    const isOurs = this.placement.claim(sandboxId, { isOurs: (id) => this.runs.isOf(runId, id), toRemove });
    const to = { machine: 'sandbox', id: sandboxId } as const;
    if (isOurs && toRemove) this.port.deliver(to, { type: 'deleteRequested', requestId: commandId });
    else if (isOurs) this.port.deliver(to, { type: 'pauseRequested', requestId: commandId, reason: 'user' });
    return { type: 'sandboxCleanedUp', commandId, sandboxId, isOurs };
  }

  private startConversation(command: CommandOf<'startConversation'>): MachineEvent | null {
    const birth = this.runs.birthOf(command);
    if (birth === null) return failureOf(command);
    const { conversationId } = birth;
    this.agents.name(conversationId, command.key);
    if (birth.initialMessage !== null) this.accepted.set(birth.initialMessage.messageId, conversationId);
    const watcher = { machine: 'run', id: command.runId } as const;
    this.port.deliver({ machine: 'conversation', id: conversationId }, { type: 'started', birth, watcher });
    return { type: 'conversationStarted', commandId: command.id, index: command.index, conversationId };
  }
}

type AgentCommand = Exclude<
  Extract<ActivityCommand, { readonly generation: number; readonly conversationId: ConversationId }>,
  CommandOf<'watchAgent'> | CommandOf<'removeConversation'>
>;
type RunCommandOut =
  | CommandOf<'startConversation'>
  | CommandOf<'verifyItem'>
  | CommandOf<'collectItem'>
  | CommandOf<'cleanUpSandbox'>
  | CommandOf<'reconcileRun'>
  | CommandOf<'reportRun'>;
