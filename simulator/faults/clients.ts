/**
 * The way of a client's request to its entity: through the worker, which may be down or die over it, and a commit.
 * Owns what a client does that sees an error: it retries with the same id, or gives up.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import type { ConversationId, EntityAddress } from '../../core/ids.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { SimulationStep } from '../simulation-options.ts';
import { messageIdOf } from './client-acts.ts';
import type { ClientFaults } from './client-faults.ts';
import type { Commits } from './commits.ts';
import { ASKED_AGAIN, DOWN, figureIn } from './figures.ts';
import type { Held } from './held.ts';
import type { Opportunities } from './opportunities.ts';
import type { Worker } from './worker.ts';

interface Parts {
  readonly port: ModelPort;
  readonly held: Held;
  readonly opportunities: Opportunities;
  readonly commits: Commits;
  readonly worker: Worker;
  readonly world: { readonly accepted: Map<string, ConversationId> };
  /** True before its first contact. */
  readonly isUncreated: (to: EntityAddress) => boolean;
}

/** Pause of a client between two tries. */
const TRY_AGAIN_MS = 1_000;

export class Clients {
  private readonly parts: Parts;
  private faults: ClientFaults | null = null;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  meddle(faults: ClientFaults): void {
    this.faults = faults;
  }

  sees(step: SimulationStep): void {
    this.faults?.sees(step);
  }

  deliver(to: EntityAddress, event: MachineEvent): void {
    const where = this.parts.opportunities.name(`client/${event.type}`, to);
    this.enter(to, event, where);
    this.faults?.sends(to, event, where);
  }

  /** A request of a client that meddles: nothing follows it. */
  send(to: EntityAddress, event: MachineEvent): void {
    this.enter(to, event, this.parts.opportunities.name(`client/${event.type}`, to));
  }

  private enter(to: EntityAddress, event: MachineEvent, where: string): void {
    const { held, opportunities, commits, worker, port } = this.parts;
    const again = (): void => this.enter(to, event, `${where}+`);
    const downUntil = worker.downUntil;
    if (downUntil !== null) return held.until(downUntil + TRY_AGAIN_MS, again);
    const dies = opportunities.strikes('worker_crash_before_commit', where, to);
    if (dies !== null) {
      const forMs = figureIn(DOWN, dies);
      worker.die(dies, forMs);
      return held.until(port.now() + forMs + TRY_AGAIN_MS, again);
    }
    const apply = (): void => this.apply(to, event, again);
    const refused = (figures: RandomStream, backAt: number): void => {
      if (isRequest(event) && figures.happens(0.5)) return this.giveUp(event);
      held.until(backAt + figureIn(ASKED_AGAIN, figures), again);
    };
    commits.enter({ where, about: to, apply, repeat: apply, refused });
  }

  private apply(to: EntityAddress, event: MachineEvent, again: () => void): void {
    const { worker, port, held } = this.parts;
    if (worker.downUntil !== null) return held.until(worker.downUntil + TRY_AGAIN_MS, again);
    // Its start is held up somewhere: an edge that has no record of it answers 404.
    if (to.machine === 'conversation' && isRequest(event) && this.parts.isUncreated(to))
      return this.giveUp(event);
    const { lives } = worker;
    port.deliver(to, event);
    // It died before any client got an answer: the client retries.
    const downUntil = worker.downUntil;
    if (worker.lives !== lives && downUntil !== null) held.until(downUntil + TRY_AGAIN_MS, again);
  }

  /** Refused by the store: nothing was accepted. */
  private giveUp(event: MachineEvent): void {
    const messageId = messageIdOf(event);
    if (messageId !== null) this.parts.world.accepted.delete(messageId);
  }
}

/** A request that creates an entity is sent until the entity is there: its client waits for it. */
function isRequest({ type }: MachineEvent): boolean {
  return type !== 'started' && type !== 'runStarted' && type !== 'created';
}
