/**
 * The Agent Servers: conversations opened, items delivered, work watched.
 * Owns which agent did what and how often a message was taken; what one agent does is in agent.ts.
 */
import type { CommandOf } from '../../core/machine/command.ts';
import type { AgentReport } from '../../core/conversation/message.ts';
import type { QueuedItem } from '../../core/conversation/state.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { LimitReached } from '../../core/machine/snapshot.ts';
import { MINUTE_MS, earliest } from '../../core/time.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import { Agent, type Stillness } from './agent.ts';
import { draw } from './distribution.ts';
import { behaviourOf, type ModelOptions } from './model-options.ts';

type Watch = CommandOf<'watchAgent'>;

/** What goes wrong with agents and their reports. */
export interface AgentTroubles {
  /** An agent has just taken on the work of an item. */
  took(command: CommandOf<'deliverItem'>, agent: Agent): void;
  /** Milliseconds until the watch sees that the agent rests; 0 when it does now. */
  unseenMs(watch: Watch, report: AgentReport): number;
  /** What a report says in the place of the truth. */
  reported(command: Incarnation, report: AgentReport): AgentReport;
}
export interface Incarnation {
  readonly conversationId: ConversationId;
  readonly generation: number;
}

export class AgentsModel {
  readonly delivered = new Map<string, number>();
  troubles: AgentTroubles | null = null;
  onCut: (id: ConversationId) => void = () => undefined;
  private readonly agents = new Map<ConversationId, Agent>();
  private readonly watches = new Map<ConversationId, Watch>();
  private readonly keys = new Map<ConversationId, string>();
  private readonly modelNames = new Map<ConversationId, string>();
  private readonly taken = new Map<ConversationId, Set<string>>();
  private readonly dead = new Set<ConversationId>();
  private outage: GatewayOutage | null = null;
  private readonly port: ModelPort;
  private readonly options: ModelOptions;
  private readonly random: RandomStream;

  constructor(port: ModelPort, options: ModelOptions, random: RandomStream) {
    this.port = port;
    this.options = options;
    this.random = random;
  }

  /** Says by which key the behaviour of a conversation is chosen. */
  name(id: ConversationId, key: string): void {
    this.keys.set(id, key);
  }

  /** True once it has a name: its start was requested. */
  knows(id: ConversationId): boolean {
    return this.keys.has(id);
  }

  /** Null before its first contact. */
  find(id: ConversationId): Agent | null {
    return this.agents.get(id) ?? null;
  }

  /** The agent's server went down: what it was at is cut off, and is there when it comes back (D15). */
  cut(ids: Iterable<ConversationId>): void {
    for (const id of ids) this.agents.get(id)?.cut(this.port.now(), 'IDLE');
  }

  /** The agent's server is dead: what it was at is cut off, and no report of it comes until it is watched again. */
  die(ids: Iterable<ConversationId>): void {
    for (const id of ids) {
      this.agents.get(id)?.cut(this.port.now(), 'IDLE');
      this.dead.add(id);
    }
  }

  /** It was not dead after all, or is there again. */
  revive(ids: Iterable<ConversationId>): void {
    for (const id of ids) if (this.dead.delete(id)) this.pollAgain(id);
  }

  /** From now until then the gateway answers every agent with this status; null: it answers as it should. */
  strike(outage: GatewayOutage | null): void {
    this.outage = outage;
    if (outage === null) return;
    for (const [id, agent] of this.agents) {
      strikeAgent(agent, outage, this.port.now());
      this.pollAgain(id);
    }
  }

  /** They stand still in the middle of their work, and report nothing of it. */
  stand(ids: Iterable<ConversationId>, by: Stillness): void {
    for (const id of ids) {
      this.agents.get(id)?.stand(this.port.now(), by);
      this.pollAgain(id);
    }
  }

  walk(ids: Iterable<ConversationId>, by: Stillness): void {
    for (const id of ids) {
      this.agents.get(id)?.walk(this.port.now(), by);
      this.pollAgain(id);
    }
  }

  /** Every conversation that ever had a contact. */
  all(): Iterable<ConversationId> {
    return this.agents.keys();
  }

  open(command: CommandOf<'openAgent'>): AgentReport {
    if (command.model !== null) this.modelNames.set(command.conversationId, command.model);
    return this.report(command);
  }

  deliver(command: CommandOf<'deliverItem'>): AgentReport {
    const { conversationId: id, item } = command;
    const taken = this.taken.get(id) ?? new Set();
    this.taken.set(id, taken);
    if (!taken.has(item.itemId)) {
      taken.add(item.itemId);
      if (item.kind === 'message')
        this.delivered.set(item.itemId, (this.delivered.get(item.itemId) ?? 0) + 1);
      this.take(id, item);
      this.troubles?.took(command, this.agent(id));
    }
    return this.report(command);
  }

  private take(id: ConversationId, item: QueuedItem): void {
    const agent = this.agent(id);
    const now = this.port.now();
    if (item.kind === 'message') {
      if (!item.run) return;
      const stream = this.random.split(`work/${id}/${item.itemId}`);
      const wasAtWork = agent.status === 'RUNNING';
      agent.take(now, this.behaviour(id), { stream, price: this.price(id) });
      // More work may have a quiet stretch before the old work would have ended.
      if (wasAtWork) this.onCut(id);
    } else if (agent.isStill) return;
    else if (item.kind === 'confirmation' && !item.accept) {
      agent.cut(now, 'IDLE');
      this.onCut(id);
    } else agent.goOn(now);
    if (this.outage !== null) strikeAgent(agent, this.outage, now);
  }

  /** Ends when the agent rests, or when a limit of the item is met. */
  watch(command: Watch): void {
    this.watches.set(command.conversationId, command);
    this.dead.delete(command.conversationId);
    this.port.later(command.id, this.port.now(), () => this.poll(command));
  }

  private poll(command: Watch): void {
    const { conversationId, id: commandId } = command;
    if (this.dead.has(conversationId)) return;
    const now = this.port.now();
    const agent = this.agent(conversationId);
    if (agent.settle(now)) this.askUser(conversationId, agent);
    if (agent.status !== 'RUNNING') return this.send(command);
    const limit = limitAt(agent, command);
    if (limit !== null && now >= limit.at)
      return this.port.answer(command, { type: 'agentLimitReached', commandId, limit: limit.which });
    const next = earliest(agent.restsAt, limit?.at ?? null);
    if (next !== null) this.port.later(commandId, next, () => this.poll(command));
  }

  /** At once, or when a fault lets the watch see it. */
  private send(command: Watch): void {
    const report = this.report(command);
    const unseenMs = this.troubles?.unseenMs(command, report) ?? 0;
    if (unseenMs > 0) this.port.later(command.id, this.port.now() + unseenMs, () => this.poll(command));
    else this.port.answer(command, { type: 'agentReported', commandId: command.id, report });
  }

  interrupt({ conversationId }: CommandOf<'interruptAgent'>): void {
    const agent = this.agent(conversationId);
    // An agent that stands still does not receive it either.
    if (!agent.isStill) agent.cut(this.port.now(), 'PAUSED');
    this.pollAgain(conversationId);
  }

  /** Its work ended before its time: watches see it. */
  pollAgain(id: ConversationId): void {
    this.onCut(id);
    const watch = this.watches.get(id);
    if (watch !== undefined) this.port.later(watch.id, this.port.now(), () => this.poll(watch));
  }

  private askUser(id: ConversationId, agent: Agent): void {
    const { answerAfter } = this.behaviour(id).confirmation;
    if (agent.status !== 'WAITING_FOR_CONFIRMATION' || answerAfter === null) return;
    const requestId = `answer/${id}/${agent.transcript}`;
    const at = agent.at + draw(answerAfter, this.random.split(requestId));
    this.port.later(null, at, () =>
      this.port.deliver(
        { machine: 'conversation', id },
        { type: 'confirmationAnswered', requestId, accept: true, reason: '' },
      ),
    );
  }

  private report({ conversationId, generation }: Incarnation): AgentReport {
    const agent = this.agent(conversationId);
    if (agent.settle(this.port.now())) this.askUser(conversationId, agent);
    const { status, pausedReason, retryAt } = agent;
    const detail = status === 'ERROR' ? 'the model says so' : null;
    const at = this.port.now();
    const report = { status, pausedReason, at, generation, limitReached: null, retryAt, detail };
    return this.troubles?.reported({ conversationId, generation }, report) ?? report;
  }

  private agent(id: ConversationId): Agent {
    const known = this.agents.get(id) ?? new Agent(this.port.now());
    this.agents.set(id, known);
    return known;
  }

  private behaviour(id: ConversationId) {
    return behaviourOf(this.options, this.keys.get(id) ?? '');
  }

  private price(id: ConversationId) {
    const { prices } = this.options;
    return prices[this.modelNames.get(id) ?? 'default'] ?? prices.default;
  }
}

/** The limit that strikes first, if the work goes on like this; null when none does. */
function limitAt(
  agent: Agent,
  { nanoUsdMax, noProgressMs }: Watch,
): { readonly at: number; readonly which: LimitReached } | null {
  const usdAt = nanoUsdMax === null ? null : agent.spends(nanoUsdMax);
  const stallAt = noProgressMs === null ? null : agent.stallsAt(noProgressMs);
  if (usdAt !== null && (stallAt === null || usdAt <= stallAt)) return { at: usdAt, which: 'usd' };
  return stallAt === null ? null : { at: stallAt, which: 'no_progress' };
}

/** A stretch of time in which the gateway refuses every agent, and what that does to one of them. */
interface GatewayOutage {
  /** HTTP status of every answer. */
  readonly status: number;
  /** Epoch milliseconds. */
  readonly until: number;
}

/** What passes by itself is retried for so long, as the Agent Server does by default; then the work ends. */
const ASKED_AGAIN_MS = 10 * MINUTE_MS;
const LIMITED = 429;
/** Statuses that are retried. */
const PASSING: ReadonlySet<number> = new Set([408, 500, 502, 503, 504, 529]);

/** Does nothing to an agent at rest, and nothing once it is over. */
function strikeAgent(agent: Agent, { status, until }: GatewayOutage, now: number): void {
  agent.settle(now);
  if (agent.status !== 'RUNNING' || agent.isStill || now >= until) return;
  if (status === LIMITED) agent.limit(now, until);
  else if (!PASSING.has(status)) agent.giveUp(now, 0);
  else if (until - now > ASKED_AGAIN_MS) agent.giveUp(now, ASKED_AGAIN_MS);
  else agent.wait(now, until - now);
}
