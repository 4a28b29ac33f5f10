/**
 * What a bill shows that speaks against joining any of its rows by time: rows of other callers, rows that came twice,
 * rows that came late.
 * Owns what is remembered of them; must not judge a row.
 *
 * A row without an id is one of our calls' only as long as no other caller can have caused it. Once a bill has rows
 * that are none of ours, its next row without an id may be one of theirs, whatever its time.
 */
import { float64Column } from '../columns.ts';

/** Completion tokens below this share no number with other pairs; beyond it pairs may, which only makes for doubt. */
const COMPLETIONS = 2 ** 26;

export class Contraries {
  private hasAny = false;
  /** Tokens of every such row, each pair as one number (tokensKey): there may be millions. */
  private readonly tokens = float64Column();
  private sorted: Float64Array | null = null;

  /** The tokens of a row that no call of ours caused, or that fits several of our calls alike. */
  addTokens(tokens: number | null): void {
    this.hasAny = true;
    if (tokens !== null) this.tokens.push(tokens);
  }

  /** A call was billed again, or the time of a row is none that the clocks explain. */
  addOther(): void {
    this.hasAny = true;
  }

  /** Then time alone is no proof. */
  areShown(): boolean {
    return this.hasAny;
  }

  /** A row that is none of ours has the same tokens. To be called when all rows were added. */
  haveTokens(wanted: number): boolean {
    const sorted = (this.sorted ??= this.tokens.all().sort());
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((sorted[middle] ?? 0) < wanted) low = middle + 1;
      else high = middle;
    }
    return sorted[low] === wanted;
  }
}

/** Prompt and completion as one number. */
export function tokensKey([prompt, completion]: readonly [number, number]): number {
  return prompt * COMPLETIONS + completion;
}
