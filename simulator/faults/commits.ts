/**
 * The way of everything that arrives into a commit, through the faults of the store.
 * Owns what waits for a commit, how long, and what comes again; must not know what an event does.
 */
import type { EntityAddress } from '../../core/ids.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import { ASKED_AGAIN, AWAY, CONFLICT, figureIn, SLOW } from './figures.ts';
import type { Held } from './held.ts';
import type { Opportunities } from './opportunities.ts';
import type { Outages } from './outages.ts';

/** Something that wants to be committed. */
export interface Entry {
  /** Name of the opportunity. */
  readonly where: string;
  readonly about: EntityAddress;
  /** The commit itself; checks again whether it is still wanted. */
  readonly apply: () => void;
  /** The same once more, for a caller that saw no answer. */
  readonly repeat: () => void;
  /** What its caller does about a store that refuses it; by default it waits. */
  readonly refused?: (figures: RandomStream, backAt: number) => void;
}

interface Parts {
  readonly port: ModelPort;
  readonly held: Held;
  readonly opportunities: Opportunities;
  readonly outages: Outages;
}

export class Commits {
  private readonly parts: Parts;

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Null while the store is there. */
  get awayUntil(): number | null {
    return this.parts.outages.until(this.parts.port.now());
  }

  enter(entry: Entry): void {
    const { opportunities, held, port } = this.parts;
    const { where, about, apply } = entry;
    const full = opportunities.strikes('store_full', where, about);
    const gone = opportunities.strikes('store_restart', where, about);
    if (full !== null) this.away(full);
    if (gone !== null) this.away(gone);
    const backAt = this.awayUntil;
    if (backAt !== null) {
      if (full !== null && entry.refused !== undefined) return entry.refused(full, backAt);
      return held.until(backAt, () => this.enterAgain(entry));
    }
    const conflict = opportunities.strikes('store_conflict', where, about);
    if (conflict !== null) return held.until(port.now() + figureIn(CONFLICT, conflict), apply);
    const slow = opportunities.strikes('store_slow', where, about);
    if (slow !== null) return held.until(port.now() + figureIn(SLOW, slow), apply);
    const unheard = opportunities.strikes('store_timeout_after_commit', where, about);
    apply();
    if (unheard !== null) held.until(port.now() + figureIn(ASKED_AGAIN, unheard), entry.repeat);
  }

  /** It has waited once: no further fault of its own, only the next outage. */
  private enterAgain({ apply }: Entry): void {
    const backAt = this.awayUntil;
    if (backAt === null) apply();
    else this.parts.held.until(backAt, apply);
  }

  private away(figures: RandomStream): void {
    const { port, outages } = this.parts;
    outages.begin(port.now(), port.now() + figureIn(AWAY, figures));
  }
}
