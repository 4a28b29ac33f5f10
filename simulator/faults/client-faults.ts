/**
 * Clients that repeat, cancel, burst and meddle.
 * Owns when each fault of a client strikes and what it then sends; the edge and the machines judge it.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import type { ConversationId, EntityAddress } from '../../core/ids.ts';
import { attachedIds, type SandboxState } from '../../core/sandbox/state.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { phaseOf } from '../view.ts';
import { cancelRun, interrupt, message, messageIdOf, remove, someAct, withNewId } from './client-acts.ts';
import type { Edge } from './edge.ts';
import { ASKED_AGAIN, CLIENT_ACTS_AFTER, figureIn, wholeIn } from './figures.ts';
import type { Held } from './held.ts';
import type { Opportunities } from './opportunities.ts';

interface Parts {
  readonly port: ModelPort;
  readonly held: Held;
  readonly opportunities: Opportunities;
  readonly edge: Edge;
  /** Messages that were accepted from a user, with their conversation. */
  readonly accepted: Map<string, ConversationId>;
  /** The way of a request past the edge. */
  readonly send: (to: EntityAddress, event: MachineEvent) => void;
  /** False once an entity is gone for good: an edge has no record of it. */
  readonly isKnown: (to: EntityAddress) => boolean;
}

/** Messages of one burst: more than wait in a queue at its fullest would all be refused alike. */
const BURST = { min: 3, max: 40 } as const;

export class ClientFaults {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** What a client that sends this does besides. */
  sends(to: EntityAddress, event: MachineEvent, where: string): void {
    const { opportunities, send } = this.parts;
    const same = opportunities.strikes('client_retry_same_key', where, to);
    if (same !== null) this.after(figureIn(ASKED_AGAIN, same), () => send(to, event));
    const another = withNewId(event, `again/${where}`);
    const anew = another === null ? null : opportunities.strikes('client_retry_new_key', where, to);
    if (anew !== null && another !== null)
      this.after(figureIn(ASKED_AGAIN, anew), () => this.request(to, another));
  }

  sees({ address, before, after }: SimulationStep): void {
    const phase = phaseOf(after);
    if (phase === null || phase === phaseOf(before)) return;
    const { opportunities } = this.parts;
    if (!opportunities.any(...BY_PHASE)) return;
    const where = opportunities.name(phase, address);
    const odd = opportunities.strikes('client_in_transition', where, address);
    if (odd !== null) this.act(address, someAct(address, odd)(`odd/${where}`), odd);
    if (address.machine === 'sandbox') return this.seesSandbox(after as SandboxState, where, address);
    this.seesWork(address, where);
  }

  private seesWork(address: EntityAddress, where: string): void {
    const { opportunities } = this.parts;
    const cancels = opportunities.strikes('client_cancel', where, address);
    const cancel = address.machine === 'run' ? cancelRun : interrupt;
    if (cancels !== null) this.act(address, cancel(`cancel/${where}`), cancels);
    if (address.machine === 'run' || address.machine === 'shard') return;
    const burst = opportunities.strikes('client_burst', where, address);
    if (burst !== null) this.burst(address, where, burst);
    this.seesDeletion(address, where);
  }

  private seesSandbox(state: SandboxState, where: string, address: EntityAddress): void {
    const { opportunities } = this.parts;
    this.seesDeletion(address, where);
    if (attachedIds(state).length < 2) return;
    const shared = opportunities.strikes('client_on_shared', where, address);
    if (shared !== null) this.act(address, someAct(address, shared)(`shared/${where}`), shared);
  }

  private seesDeletion(address: EntityAddress, where: string): void {
    const twice = this.parts.opportunities.strikes('client_delete_twice', where, address);
    if (twice === null) return;
    this.act(address, remove(`delete/${where}`), twice);
    this.act(address, remove(`delete again/${where}`), twice);
  }

  private burst(address: EntityAddress, where: string, stream: RandomStream): void {
    const count = wholeIn(BURST.min, BURST.max, stream);
    this.after(this.someTime(stream), () => {
      for (let at = 0; at < count; at += 1) this.request(address, message(`burst/${where}/${at}`));
    });
  }

  /** At once, or a while after: half of them in the middle of what has just begun. */
  private act(to: EntityAddress, event: MachineEvent, stream: RandomStream): void {
    this.after(this.someTime(stream), () => this.request(to, event));
  }

  private someTime(stream: RandomStream): number {
    return stream.happens(0.5) ? 0 : figureIn(CLIENT_ACTS_AFTER, stream);
  }

  private after(waitMs: number, run: () => void): void {
    const { held, port } = this.parts;
    held.until(port.now() + waitMs, run);
  }

  /** A new request: the edge admits it, or returns to its client why not. */
  private request(to: EntityAddress, event: MachineEvent): void {
    const { opportunities, edge, accepted, send, isKnown } = this.parts;
    if (!isKnown(to)) return;
    const lags = opportunities.any('store_old_replica')
      ? opportunities.strikes('store_old_replica', opportunities.name(`read/${event.type}`, to), to)
      : null;
    if (!edge.admits(to, event, lags !== null)) return;
    const messageId = messageIdOf(event);
    if (messageId !== null) accepted.set(messageId, to.id as ConversationId);
    send(to, event);
  }
}

const BY_PHASE = [
  'client_in_transition',
  'client_cancel',
  'client_burst',
  'client_delete_twice',
  'client_on_shared',
] as const;
