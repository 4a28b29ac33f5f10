/**
 * What goes wrong with agents by themselves: they freeze, their gateway fails, and their reports lie or get lost.
 * Owns the faults of agents that no call of ours causes; must not decide what a report means.
 */
import type { ActivityCommand, CommandOf } from '../../core/machine/command.ts';
import type { AgentReport } from '../../core/conversation/message.ts';
import type { ConversationId } from '../../core/ids.ts';
import type { Agent } from '../models/agent.ts';
import type { AgentsModel, AgentTroubles, Incarnation } from '../models/agents-model.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { FaultName } from './catalogue.ts';
import { figureIn } from './figures.ts';
import type { Injector } from './injector.ts';
import { Opportunities } from './opportunities.ts';
import {
  AGENT_CLOCK_STILL,
  CALLBACK_LATE,
  GATEWAY_OUT,
  GATEWAY_REST_MS,
  STALE_RUNNING,
} from './runtime-figures.ts';

/** What the gateway answers while it limits every agent, and while it is away. */
const LIMITED = 429;
const AWAY = 503;
const OUTAGES = [
  ['gateway_rate_limited', LIMITED],
  ['gateway_unavailable', AWAY],
] as const;

interface Parts {
  readonly port: ModelPort;
  readonly injector: Injector;
  readonly agents: AgentsModel;
  readonly pollMs: number;
}

type Watch = CommandOf<'watchAgent'>;

export class AgentIncidents implements AgentTroubles {
  private readonly parts: Parts;
  private readonly opportunities: Opportunities;
  /** Watches that have been decided on: one end, one callback. */
  private readonly decided = new Set<string>();
  private readonly runningUntil = new Map<ConversationId, number>();
  private readonly clocks = new Map<
    ConversationId,
    { readonly at: number; readonly until: number; readonly generation: number }
  >();
  private gatewayRestUntil = 0;

  constructor(parts: Parts) {
    this.parts = parts;
    this.opportunities = new Opportunities(parts.port, parts.injector);
    parts.agents.troubles = this;
  }

  /** Somewhere in the middle of the work it stands still, or its gateway fails it and every other agent. */
  took({ conversationId: id, item }: CommandOf<'deliverItem'>, agent: Agent): void {
    const { agents, port } = this.parts;
    const leftMs = (agent.restsAt ?? port.now()) - port.now();
    if (leftMs <= 0) return;
    const where = `${id}/${item.itemId}`;
    const about = { machine: 'conversation', id } as const;
    const within = (fault: FaultName, run: (figures: RandomStream) => void): void => {
      const planned = this.opportunities.plans(fault, where, about);
      if (planned === null) return;
      this.opportunities.after(Math.floor(planned.figures.next() * leftMs), () => {
        planned.strike(port.now());
        run(planned.figures);
      });
    };
    within('agent_frozen', () => agents.stand([id], 'agent'));
    within('gateway_rate_limited', (figures) => this.limit(LIMITED, figures));
    within('gateway_unavailable', (figures) => this.limit(AWAY, figures));
  }

  /** All agents share the gateway, which fails those at work: any moment will do, with a pause after an outage. */
  moment({ id }: ActivityCommand): void {
    if (this.parts.port.now() < this.gatewayRestUntil) return;
    for (const [fault, status] of OUTAGES) {
      if (!this.opportunities.any(fault)) continue;
      const where = `moment/${id}/${this.opportunities.nth(`moment/${id}/${fault}`)}`;
      const figures = this.opportunities.strikes(fault, where, null);
      if (figures !== null) return this.limit(status, figures);
    }
  }

  /** The callback that says so may be lost or late; a poll, or a report that is right again, shows it then. */
  unseenMs(watch: Watch, report: AgentReport): number {
    const { conversationId: id } = watch;
    const { port, pollMs } = this.parts;
    const leftMs = (this.runningUntil.get(id) ?? 0) - port.now();
    if (leftMs > 0) return leftMs;
    if (this.decided.has(watch.id)) return 0;
    this.decided.add(watch.id);
    const stale = this.ask('agent_stale_running', watch.id, id);
    if (stale !== null) return this.stayRunning(id, figureIn(STALE_RUNNING, stale));
    const lost = this.ask('callback_lost', watch.id, id);
    if (lost !== null) return 1 + Math.floor(lost.next() * pollMs);
    this.again('callback_repeated', watch, report);
    // What it reported while it was still at work comes after what it reported at the end.
    this.again('callback_out_of_order', watch, {
      ...report,
      status: 'RUNNING',
      pausedReason: null,
      retryAt: null,
      detail: null,
      at: report.at - 1,
    });
    return 0;
  }

  reported({ conversationId: id, generation }: Incarnation, report: AgentReport): AgentReport {
    const where = `${id}/report ${this.opportunities.nth(`report/${id}`)}`;
    const status = (this.runningUntil.get(id) ?? 0) > this.parts.port.now() ? 'RUNNING' : report.status;
    const shown =
      status === report.status ? report : { ...report, status, pausedReason: null, retryAt: null };
    if (generation > 1 && this.ask('agent_old_session_key', where, id) !== null)
      this.send(id, {
        ...report,
        status: 'ERROR',
        generation: generation - 1,
        detail: 'an older incarnation',
      });
    return { ...shown, at: this.clockOf(id, generation, where) };
  }

  /** Every fault under way ends; agents that stood still go on. */
  heal(): void {
    const { agents } = this.parts;
    this.clocks.clear();
    const stale = [...this.runningUntil.keys()];
    this.runningUntil.clear();
    agents.walk([...agents.all()], 'agent');
    for (const id of stale) agents.pollAgain(id);
  }

  private limit(status: number, figures: RandomStream): void {
    const { agents, port } = this.parts;
    const until = port.now() + figureIn(GATEWAY_OUT, figures);
    this.gatewayRestUntil = until + GATEWAY_REST_MS;
    agents.strike({ status, until });
  }

  private stayRunning(id: ConversationId, forMs: number): number {
    this.runningUntil.set(id, this.parts.port.now() + forMs);
    return forMs;
  }

  /** A clock that stands still never goes back; the next incarnation has a clock of its own. */
  private clockOf(id: ConversationId, generation: number, where: string): number {
    const now = this.parts.port.now();
    const still = this.clocks.get(id);
    if (still !== undefined && still.generation === generation && now < still.until) return still.at;
    const figures = this.ask('agent_clock_frozen', where, id);
    if (figures !== null) {
      const until = now + figureIn(AGENT_CLOCK_STILL, figures);
      this.clocks.set(id, { at: now, until, generation });
    }
    return now;
  }

  private again(fault: FaultName, { id: where, conversationId: id }: Watch, report: AgentReport): void {
    const figures = this.ask(fault, where, id);
    if (figures !== null)
      this.opportunities.after(figureIn(CALLBACK_LATE, figures), () => this.send(id, report));
  }

  private send(id: ConversationId, report: AgentReport): void {
    this.parts.port.deliver(
      { machine: 'conversation', id },
      { type: 'agentReported', commandId: null, report },
    );
  }

  private ask(fault: FaultName, where: string, id: ConversationId): RandomStream | null {
    return this.opportunities.strikes(fault, where, { machine: 'conversation', id });
  }
}
