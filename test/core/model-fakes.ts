/**
 * In-memory stand-ins for runtime, agent and store, with failures and delays.
 * Owns what the commands of the model do, and what it has seen happen; must not judge.
 */
import type { Command, MachineEvent } from '../../core/machine/command.ts';
import type { AgentReport } from '../../core/conversation/message.ts';
import type { ConversationSpec, QueuedItem } from '../../core/conversation/state.ts';
import {
  conversationId,
  sandboxId,
  type ConversationId,
  type EntityAddress,
  type SandboxId,
} from '../../core/ids.ts';
import { addressOfCommand } from '../../core/ids.ts';
import { touchesSandbox } from '../../core/machine/resource.ts';
import { place } from '../../core/placement/place.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import { isNewer } from '../../core/machine/snapshot.ts';
import { HOUR_MS } from '../../core/time.ts';
import { CONVERSATION_SPEC } from './conversation-life.ts';
import type { ModelWorld } from './model-world.ts';
import { SPEC, IDLE_MS, USER } from './sandbox-life.ts';
import { SUMMARY } from './run-life.ts';

interface Agent {
  status: AgentReport['status'];
  at: number;
  finishAt: number;
  readonly seen: Set<string>;
}

type Order<Type extends Command['type']> = Extract<Command, { readonly type: Type }>;

/** Longest an activity takes; work of an agent takes up to three hours. */
const ACTIVITY_MS = 30_000;

export class ModelFakes {
  readonly rows = new Map<SandboxId, SandboxRow>();
  readonly attached = new Map<ConversationId, SandboxId>();
  readonly agents = new Map<ConversationId, Agent>();
  /** How often an agent took a message it had not seen. */
  readonly delivered = new Map<string, number>();
  readonly refused = new Map<string, number>();
  /** What happened to workspaces, in order. */
  readonly log: string[] = [];
  readonly removed = new Set<ConversationId>();
  /** The incarnation that is up. */
  readonly up = new Map<SandboxId, number>();
  /** Their host is gone: calls into one get no answer. */
  private readonly lost = new Set<SandboxId>();
  private readonly world: ModelWorld;
  private sandboxes = 0;

  constructor(world: ModelWorld) {
    this.world = world;
    world.onCommand = (command, sender) => this.carryOut(command, sender);
  }

  spec(number: number, change: Partial<ConversationSpec>): ConversationSpec {
    const id = conversationId(String(number).padStart(32, 'a'));
    const initialMessage = { messageId: `first-${number}`, text: 't', run: true };
    return { ...CONVERSATION_SPEC, conversationId: id, initialMessage, ...change };
  }

  newSandbox(): SandboxId {
    this.sandboxes += 1;
    return sandboxId(String(this.sandboxes).padStart(32, '5'));
  }

  /** Each has a host of its own, which is given up as soon as it is gone. */
  loseHost(id: SandboxId): void {
    this.up.delete(id);
    this.lost.add(id);
    this.world.post({ machine: 'sandbox', id }, { type: 'hostLost' });
  }

  private isUnreachable(command: Command): boolean {
    if (command.type === 'project' || command.type === 'send' || command.type === 'cancelCommand')
      return false;
    if (!('sandboxId' in command) || command.sandboxId === null || !this.lost.has(command.sandboxId))
      return false;
    // What is kept elsewhere is collected elsewhere.
    return touchesSandbox(command.type) && !(command.type === 'collectItem' && !command.workspaceReadable);
  }

  private carryOut(command: Command, sender: EntityAddress): void {
    if (command.type === 'project') return this.project(command);
    if (command.type === 'record') return this.record(command);
    const answer = (event: object | null) => {
      if (event !== null)
        this.world.answer(sender, command.id, { commandId: command.id, ...event } as unknown as MachineEvent);
    };
    this.world.after(this.world.random() * ACTIVITY_MS, () => this.work(command, answer));
  }

  private project(command: Order<'project'>): void {
    for (const row of command.rows) {
      if (row.table !== 'sandbox') continue;
      if (isNewer(row, this.rows.get(row.sandboxId) ?? null)) this.rows.set(row.sandboxId, row);
    }
  }

  private record(command: Order<'record'>): void {
    const [messageId = ''] = command.event.detail.split(':');
    this.refused.set(messageId, (this.refused.get(messageId) ?? 0) + 1);
  }

  private work(command: Command, answer: (event: object | null) => void): void {
    // A cancelled activity may have had its effect or not; its answer is dropped in any case.
    if (this.world.cancelled.has(command.id) && this.world.random() < 0.5) return;
    if (this.isUnreachable(command)) return;
    switch (command.type) {
      case 'createSandbox':
      case 'resumeSandbox':
        return answer(this.start(command));
      case 'stopSandbox':
        if (this.world.fails()) return answer({ type: 'stopFailed', reason: 'r' });
        if ((this.up.get(command.sandboxId) ?? 0) <= command.generation) this.up.delete(command.sandboxId);
        return answer({ type: 'sandboxStopped' });
      case 'archiveWorkspace':
        if (this.world.fails()) return answer({ type: 'archiveFailed', reason: 'r' });
        this.log.push(`archived ${command.sandboxId}`);
        return answer({ type: 'workspaceArchived' });
      case 'destroySandbox':
        if (this.world.fails()) return answer({ type: 'destroyFailed', reason: 'r' });
        this.up.delete(command.sandboxId);
        this.log.push(`destroyed ${command.sandboxId}`);
        return answer({ type: 'sandboxDestroyed' });
      case 'reserveSlot':
        return answer(this.world.fails() ? { type: 'slotRefused', reason: 'full' } : { type: 'slotGranted' });
      case 'watchIdle':
        return this.watchIdle(command, answer);
      case 'placeConversation':
        return answer(this.place(command));
      case 'removeConversation':
        return answer(this.remove(command));
      default:
        return this.workOnAgent(command, answer);
    }
  }

  private workOnAgent(command: Command, answer: (event: object | null) => void): void {
    switch (command.type) {
      case 'prepareRepository':
        return answer(this.world.fails() ? FAILED : { type: 'repositoryPrepared' });
      case 'runSetupScript':
        return answer({ type: 'setupScriptRan' });
      case 'setUpGitHooks':
        return answer({ type: 'gitHooksSetUp' });
      case 'setUpSkills':
        return answer({ type: 'skillsSetUp' });
      case 'openAgent':
        if (!this.isUp(command)) return answer(FAILED);
        this.agent(command.conversationId).status = 'IDLE';
        return answer({ type: 'agentOpened', report: this.report(command) });
      case 'deliverItem':
        return answer(this.deliver(command));
      case 'watchAgent':
        return this.watchAgent(command, answer);
      case 'interruptAgent':
        if (!this.isUp(command) || this.world.fails()) return answer(FAILED);
        this.settle(command.conversationId, 'PAUSED');
        return answer({ type: 'agentInterrupted' });
      default:
        return this.workOnRun(command, answer);
    }
  }

  private workOnRun(command: Command, answer: (event: object | null) => void): void {
    switch (command.type) {
      case 'startConversation': {
        const number = 1_000 + command.index * 100 + command.attempt;
        const spec = this.spec(number, { itemIndex: command.index, strategy: 'NO_GROUPING' });
        const address = { machine: 'conversation', id: spec.conversationId } as const;
        const watcher = addressOfCommand(command.id);
        this.world.post(address, { type: 'started', spec, watcher });
        return answer({
          type: 'conversationStarted',
          index: command.index,
          conversationId: spec.conversationId,
        });
      }
      case 'verifyItem':
        return answer({
          type: 'itemVerified',
          index: command.index,
          passed: !this.world.fails(),
          detail: null,
        });
      case 'collectItem': {
        if (this.world.fails()) return answer({ type: 'collectFailed', index: command.index, reason: 'r' });
        this.log.push(`collected ${command.sandboxId ?? ''}`);
        return answer({ type: 'itemCollected', index: command.index, costNanoUsd: 5 });
      }
      case 'cleanUpSandbox': {
        const { sandboxId, id: requestId, how } = command;
        const event =
          how === 'delete'
            ? ({ type: 'deleteRequested', requestId } as const)
            : ({ type: 'pauseRequested', requestId, reason: 'user' } as const);
        this.world.post({ machine: 'sandbox', id: sandboxId }, event);
        return answer({ type: 'sandboxCleanedUp', sandboxId, isOurs: true });
      }
      case 'offerRoom':
        return answer(null);
      case 'reconcileRun':
        return answer({ type: 'runReconciled', summary: SUMMARY });
      case 'reportRun':
        return answer({ type: 'runReported' });
      case 'notifyOfRun':
        return answer(
          this.world.fails() ? { type: 'notifyFailed', reason: 'r' } : { type: 'runNotified', isSent: true },
        );
      default:
        throw new Error(`Cannot carry out ${command.type}: the model has no fake for it`);
    }
  }

  private start(command: Order<'createSandbox'> | Order<'resumeSandbox'>): object {
    if (this.world.cancelled.has(command.id)) return { type: 'sandboxFailed', reason: 'cancelled' };
    if (this.world.fails()) return { type: 'sandboxFailed', reason: 'boot' };
    if (this.log.includes(`destroyed ${command.sandboxId}`)) return { type: 'sandboxFailed', reason: 'gone' };
    this.up.set(command.sandboxId, command.generation);
    return { type: 'sandboxReady' };
  }

  /** Polls when idleness could be reached; sometimes it finds the runtime dead or gone instead. */
  private watchIdle(command: Order<'watchIdle'>, answer: (event: object | null) => void): void {
    const poll = (): void => {
      if (this.world.cancelled.has(command.id) || this.isUnreachable(command)) return;
      if (this.world.random() < this.world.faults.failures / 4) {
        this.up.delete(command.sandboxId);
        return answer(
          this.world.random() < 0.5 ? { type: 'runtimeGone' } : { type: 'runtimeCrashed', reason: 'r' },
        );
      }
      const last = Math.max(command.since, this.lastActivity(command.sandboxId));
      if (this.world.now - last >= IDLE_MS)
        return answer({ type: 'idleReached', lastActivityAt: last, lookedAt: this.world.now });
      this.world.after(last + IDLE_MS - this.world.now, poll);
    };
    poll();
  }

  private lastActivity(id: SandboxId): number {
    const own = [...this.attached]
      .filter(([, sandbox]) => sandbox === id)
      .map(([conversation]) => conversation);
    const instants = own.map((conversation) => {
      const agent = this.current(conversation);
      return agent?.status === 'RUNNING' ? this.world.now : (agent?.at ?? 0);
    });
    return Math.max(0, ...instants);
  }

  private place(command: Order<'placeConversation'>): object {
    const { conversationId: id, strategy, sandboxId: explicit, excluded } = command;
    const count = (sandbox: SandboxId) => [...this.attached.values()].filter((one) => one === sandbox).length;
    const candidates = [...this.rows.values()].map((row) => ({
      ...row,
      draining: row.transition === 'deleting' || row.transition === 'archiving',
      lastActivityAt: this.lastActivity(row.sandboxId),
      attachedCount: count(row.sandboxId),
    }));
    const { now } = this.world;
    const placement = place({
      userId: USER,
      strategy,
      explicit,
      excluded,
      candidates,
      conversationsPerSandboxMax: 20,
      now,
    });
    if (placement.kind === 'refused') return { type: 'placementRefused', ...placement.refusal };
    const isNew = placement.kind === 'new';
    const chosen = isNew ? this.newSandbox() : placement.sandboxId;
    this.attached.set(id, chosen);
    return { type: 'placed', sandboxId: chosen, spec: isNew ? { ...SPEC, sandboxId: chosen } : null };
  }

  private remove({ conversationId: id }: Order<'removeConversation'>): object {
    const sandbox = this.attached.get(id);
    this.attached.delete(id);
    this.removed.add(id);
    const row = sandbox === undefined ? undefined : this.rows.get(sandbox);
    const isLast = ![...this.attached.values()].includes(sandbox ?? ('' as SandboxId));
    return { type: 'conversationRemoved', sandboxToRemove: isLast && row?.createdBy !== 'api' };
  }

  private isUp(command: { readonly sandboxId: SandboxId; readonly generation: number }): boolean {
    return this.up.get(command.sandboxId) === command.generation;
  }

  private agent(id: ConversationId): Agent {
    const known = this.agents.get(id) ?? {
      status: 'IDLE' as const,
      at: this.world.now,
      finishAt: 0,
      seen: new Set<string>(),
    };
    this.agents.set(id, known);
    return known;
  }

  /** The agent as it is by now: work that has had its time is over. */
  private current(id: ConversationId): Agent | undefined {
    const agent = this.agents.get(id);
    if (agent?.status === 'RUNNING' && agent.finishAt <= this.world.now) {
      agent.status = this.world.random() < 0.8 ? 'FINISHED' : 'STUCK';
      agent.at = agent.finishAt;
    }
    return agent;
  }

  private settle(id: ConversationId, status: AgentReport['status']): void {
    const agent = this.agent(id);
    if (this.current(id)?.status === 'RUNNING') Object.assign(agent, { status, at: this.world.now });
  }

  private deliver(command: Order<'deliverItem'>): object {
    const { conversationId: id, item } = command;
    if (!this.isUp(command) || this.world.fails())
      return { type: 'deliveryFailed', itemId: item.itemId, reason: 'r' };
    const agent = this.agent(id);
    if (!agent.seen.has(item.itemId)) this.takeItem(agent, item);
    return { type: 'itemDelivered', itemId: item.itemId, report: this.report(command) };
  }

  private takeItem(agent: Agent, item: QueuedItem): void {
    agent.seen.add(item.itemId);
    this.delivered.set(item.itemId, (this.delivered.get(item.itemId) ?? 0) + 1);
    agent.at = this.world.now;
    agent.status = 'RUNNING';
    const isLong = this.world.random() < 0.1;
    agent.finishAt = this.world.now + Math.ceil(this.world.random() * (isLong ? 30 : 1) * HOUR_MS);
  }

  /** Ends when the agent rests; an agent whose runtime went away reports nothing more. */
  private watchAgent(command: Order<'watchAgent'>, answer: (event: object | null) => void): void {
    const poll = (): void => {
      if (this.world.cancelled.has(command.id) || !this.isUp(command)) return;
      const agent = this.current(command.conversationId);
      if (agent?.status === 'RUNNING') return this.world.after(agent.finishAt - this.world.now, poll);
      answer({ type: 'agentReported', report: this.report(command) });
    };
    poll();
  }

  private report(command: {
    readonly conversationId: ConversationId;
    readonly generation: number;
  }): AgentReport {
    const agent = this.current(command.conversationId) ?? this.agent(command.conversationId);
    const { generation } = command;
    const { status } = agent;
    return {
      status,
      pausedReason: null,
      at: this.world.now,
      generation,
      limitReached: null,
      retryAt: null,
      detail: null,
    };
  }
}

const FAILED = { type: 'stepFailed', code: 'agent_unreachable', reason: 'r' } as const;

/** States of one machine, by its name. */
export function statesOf<State>(world: ModelWorld, machine: EntityAddress['machine']): readonly State[] {
  return [...world.entities.values()]
    .filter(({ address, state }) => address.machine === machine && state !== null)
    .map(({ state }) => state as State);
}
