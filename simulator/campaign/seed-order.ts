/**
 * Which seed is played next: chance and aims in turn, and among the aims those that are behind.
 * Owns the order only; what a seed plays is fixed by the seed (aims.ts).
 */
import type { FaultName } from '../faults/catalogue.ts';
import { AIMS, aimName, aimSeed, type Aim } from './aims.ts';
import type { Tally } from './tally.ts';

/** A kind of fault with fewer hits than this is behind. */
export const HITS_WANTED = 100;

/** There are ten times as many pairs as kinds: each has turns of its own. */
const TURNS: readonly (Aim['kind'] | null)[] = [null, 'pair', 'fault', null, 'pair', 'pair'];
const INDICES: Readonly<Record<Aim['kind'], readonly number[]>> = {
  fault: indicesOf('fault'),
  pair: indicesOf('pair'),
};

function indicesOf(kind: Aim['kind']): readonly number[] {
  return [...AIMS.keys()].filter((index) => AIMS[index]?.kind === kind);
}

/** Which seed comes next, by what is not yet covered. */
export class SeedOrder {
  private next: number;
  private turn = 0;
  /** By index of an aim, how often it was played beyond the ordinary order. */
  private readonly rounds = new Map<number, number>();
  private readonly cursors = { fault: 0, pair: 0 };
  /** Seeds of aims that the ordinary order has not come to yet. */
  private readonly playedAhead = new Set<number>();
  private readonly from: number;

  /** Ordinary seeds begin here. */
  constructor(from: number) {
    this.from = from;
    this.next = from;
  }

  /** Every third seed at least is an ordinary one, so that chance is never crowded out; then a kind, then a pair. */
  take(tally: Tally): number {
    this.turn += 1;
    const kind = TURNS[this.turn % TURNS.length] ?? null;
    const behind = kind === null ? null : this.behind(kind, tally);
    if (behind !== null) return this.played(behind);
    // Its aim may have been behind, and it was played for that.
    while (this.playedAhead.delete(this.next)) this.next += 1;
    this.next += 1;
    return this.next - 1;
  }

  private played(seed: number): number {
    this.playedAhead.add(seed);
    return seed;
  }

  /** True when every kind has its hits and every pair was reached. */
  isCovered(tally: Tally): boolean {
    return AIMS.every((_, index) => !isBehind(index, tally));
  }

  /** Null when nothing of that kind is behind, or nothing was played yet. */
  private behind(kind: Aim['kind'], tally: Tally): number | null {
    if (tally.runs === 0) return null;
    const { cursors } = this;
    const indices = INDICES[kind];
    for (let looked = 0; looked < indices.length; looked += 1) {
      const index = indices[cursors[kind] % indices.length] ?? 0;
      cursors[kind] += 1;
      if (!isBehind(index, tally)) continue;
      const round = this.rounds.get(index) ?? 0;
      this.rounds.set(index, round + 1);
      return aimSeed(index, round, this.from);
    }
    return null;
  }
}

function isBehind(index: number, tally: Tally): boolean {
  const aim = AIMS[index];
  if (aim === undefined) return false;
  if (aim.kind === 'fault') return tally.hits('faults', aim.fault satisfies FaultName) < HITS_WANTED;
  return tally.hits('pairs', aimName(aim)) === 0;
}
