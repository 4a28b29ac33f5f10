/** A planted bug as data: one text of one source replaced by another. Owns the shape; must not be known to product code. */

export interface Mutant {
  /** Unique; what `--only` takes. */
  readonly name: string;
  /** Path from the root of the repository. */
  readonly file: string;
  /** Stands in the source exactly once. */
  readonly find: string;
  readonly replace: string;
  /** The mistake in one sentence. */
  readonly mistake: string;
  /** Where such a mistake was made before, or which race it is. */
  readonly source: string;
  /** Invariants of docs/simulation.md that are expected to notice. */
  readonly caughtBy: readonly string[];
  /** Who looks: the campaign when left out, `hosts` the one with hosts; `conformance` compares with the embedded engine. */
  readonly detector?: 'campaign' | 'hosts' | 'conformance';
}
