/**
 * Decides at every opportunity whether a fault strikes, and keeps the list of those that did.
 * Owns chance and record of faults; must not carry one out. Decisions are by name, so that a recorded schedule can be
 * played again, or a part of it: one fault fewer never changes whether another strikes at its own opportunity.
 */
import { addressKey, type EntityAddress } from '../../core/ids.ts';
import type { RandomStream } from '../random.ts';
import { FAULT_NAMES, type FaultMix, type FaultName } from './catalogue.ts';

/** A fault that struck, with everything needed to let it strike again. */
export interface Injected {
  readonly fault: FaultName;
  /** Name of the opportunity, unique in a run for one kind of fault, for example the id of a command and its try. */
  readonly where: string;
  /** Epoch milliseconds of the virtual clock. */
  readonly at: number;
  /** Entity it struck, as `machine/id`; null for one that strikes all. */
  readonly entity: string | null;
}

/** Faults by chance, or exactly those of a schedule (`fault@where`). */
export type FaultSource =
  | { readonly kind: 'mix'; readonly mix: FaultMix }
  | { readonly kind: 'schedule'; readonly keys: ReadonlySet<string> };

export const NO_FAULTS: FaultSource = { kind: 'mix', mix: {} };

/** The key of a fault at a place. */
export function faultKey({ fault, where }: Pick<Injected, 'fault' | 'where'>): string {
  return `${fault}@${where}`;
}

/** A fault that was decided on and has not shown yet. */
export interface Planned {
  /** For the fault's figures: when, how long, how many. */
  readonly figures: RandomStream;
  /** It shows now, epoch milliseconds: only from here on it has struck. */
  readonly strike: (at: number) => void;
}

export interface Opportunity {
  readonly where: string;
  readonly about: EntityAddress | null;
  readonly at: number;
}

export class Injector {
  readonly injected: Injected[] = [];
  private readonly source: FaultSource;
  private readonly possible: ReadonlySet<FaultName>;
  private readonly random: RandomStream;
  private readonly onInjected: ((injected: Injected) => void) | null;
  private healed = false;
  private wish: ((fault: FaultName, opportunity: Opportunity) => boolean) | null = null;

  constructor(source: FaultSource, random: RandomStream, onInjected: ((injected: Injected) => void) | null) {
    this.source = source;
    this.possible = possibleIn(source);
    this.random = random;
    this.onInjected = onInjected;
  }

  /** True once nothing strikes any more. */
  get isHealed(): boolean {
    return this.healed;
  }

  /** From now on nothing strikes any more: the healing phase. */
  heal(): void {
    this.healed = true;
  }

  /** Beside chance: a fault also strikes where this says so. A schedule is played without it. */
  aim(wish: (fault: FaultName, opportunity: Opportunity) => boolean): void {
    this.wish = wish;
  }

  /** False: it never strikes here, and callers need not name its opportunities. */
  mayStrike(fault: FaultName): boolean {
    return this.wish !== null || this.possible.has(fault);
  }

  /** Null: it does not strike. Else a stream of its own for the fault's figures: how long, how many. */
  strikes(fault: FaultName, opportunity: Opportunity): RandomStream | null {
    const { where } = opportunity;
    if (this.healed || !(this.chooses(fault, where) || this.wish?.(fault, opportunity) === true)) return null;
    this.record(fault, opportunity);
    return this.figuresOf(fault, where);
  }

  /**
   * The same for a fault that shows some time after its opportunity: it is recorded when it shows, if ever. No wish is
   * consulted, because a wish is about what an entity is in now.
   */
  plans(fault: FaultName, opportunity: Opportunity): Planned | null {
    const { where } = opportunity;
    if (this.healed || !this.chooses(fault, where)) return null;
    return {
      figures: this.figuresOf(fault, where),
      strike: (at) => this.record(fault, { ...opportunity, at }),
    };
  }

  private record(fault: FaultName, { where, about, at }: Opportunity): void {
    const injected = { fault, where, at, entity: about === null ? null : addressKey(about) };
    this.injected.push(injected);
    this.onInjected?.(injected);
  }

  private figuresOf(fault: FaultName, where: string): RandomStream {
    return this.random.split(`figures/${fault}@${where}`);
  }

  private chooses(fault: FaultName, where: string): boolean {
    if (this.source.kind === 'schedule') return this.source.keys.has(faultKey({ fault, where }));
    const share = this.source.mix[fault] ?? 0;
    return share > 0 && this.random.split(`${fault}@${where}`).happens(share);
  }
}

function possibleIn(source: FaultSource): ReadonlySet<FaultName> {
  if (source.kind === 'mix') return new Set(FAULT_NAMES.filter((fault) => (source.mix[fault] ?? 0) > 0));
  const named = new Set([...source.keys].map((key) => key.slice(0, key.indexOf('@'))));
  return new Set(FAULT_NAMES.filter((fault) => named.has(fault)));
}
