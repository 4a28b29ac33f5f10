/**
 * What pairs joined by response id say of the export as a whole: how its clocks differ, and whether it counts tokens
 * as our proxy does.
 * Owns both estimates; must not join anything. Nothing but an exact pair is evidence (D35).
 */
import { float64Column } from '../columns.ts';

/** Differences this close are one clock: calls begin a little earlier on our side, and by how much varies. */
export const CLOCK_SPREAD_MS = 60_000;
/** Clocks of one export: replicas, and hours that are saved in between. More say nothing of the time of a row. */
export const CLOCKS_MAX = 8;
/** Of a thousand pairs, as many must agree on a clock: the others are rows that came late. */
const PAIRS_PER_MILLE = 1;

export interface Clocks {
  /** Median of (gateway − ours), the lower one of two; null without a pair. */
  readonly medianMs: number | null;
  /** One difference for each clock; empty when they say nothing of a row's time. */
  readonly differencesMs: readonly number[];
  /** Pairs are on no such clock: rows come late, and by how much says nothing. */
  readonly hasLate: boolean;
}

const UNKNOWN: Clocks = { medianMs: null, differencesMs: [], hasLate: false };

export class PairEvidence {
  private readonly differences = float64Column();
  private known: Clocks | null = null;
  private compared = 0;
  private disagreed = 0;

  addDifference(differenceMs: number): void {
    this.differences.push(differenceMs);
    this.known = null;
  }

  addTokens(isSame: boolean): void {
    this.compared += 1;
    if (!isSame) this.disagreed += 1;
  }

  /** Then other tokens are another call. */
  countsTokensAlike(): boolean {
    return this.compared > 0 && this.disagreed === 0;
  }

  clocks(): Clocks {
    return (this.known ??= this.estimate());
  }

  private estimate(): Clocks {
    if (this.differences.length === 0) return UNKNOWN;
    const sorted = this.differences.all().sort();
    const medianMs = sorted[(sorted.length - 1) >> 1] ?? 0;
    const pairsMin = Math.max(1, (sorted.length * PAIRS_PER_MILLE) / 1_000);
    const differencesMs: number[] = [];
    let hasLate = false;
    for (let from = 0; from < sorted.length;) {
      let to = from;
      while (to < sorted.length && (sorted[to] ?? 0) - (sorted[from] ?? 0) <= CLOCK_SPREAD_MS) to += 1;
      if (to - from >= pairsMin) differencesMs.push(sorted[(from + to - 1) >> 1] ?? 0);
      else hasLate = true;
      from = to;
    }
    return { medianMs, differencesMs: differencesMs.length > CLOCKS_MAX ? [] : differencesMs, hasLate };
  }
}
