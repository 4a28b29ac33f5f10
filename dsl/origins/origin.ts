/**
 * Where an effective value of a plan comes from.
 * Owns the shapes; plan-origins.ts finds them, the command line prints them.
 */

/** What an expression in the written text read. */
export type Source =
  /** `typed`: on the command line; `file`: the file of values; `default`: the input's own. */
  | { readonly kind: 'input'; readonly name: string; readonly given: 'typed' | 'file' | 'default' }
  | { readonly kind: 'row'; readonly file: string; readonly line: number; readonly column: string }
  | { readonly kind: 'axis'; readonly name: string };

/**
 * `job`: written in the job file; `extends`: in a file that it builds on; `default`: built in;
 * `deployment`: neither, and the deployment or the user's own setting decides; `plan`: read from a saved plan, which no
 * longer records it.
 */
type OriginKind = 'job' | 'extends' | 'default' | 'deployment' | 'plan';

/** What decided a value, where it is written, and what its expressions read. */
export interface Origin {
  readonly kind: OriginKind;
  /** Null for what is written nowhere. */
  readonly place: { readonly file: string; readonly line: number } | null;
  /** The part of the job in which it is written, where that is not the conversation or the top. */
  readonly under: 'defaults' | 'extend' | null;
  readonly from: readonly Source[];
}

/** One value of a plan under both of its names, with its origin. */
export interface EffectiveValue {
  /** As the job names it: `wait.deadline`, `tags.owner`. */
  readonly key: string;
  /** As the plan names it, with its unit: `wait.deadlineMs`. */
  readonly field: string;
  /** As the plan has it; null where nothing is set. */
  readonly value: unknown;
  readonly origin: Origin;
}

/** Values of the whole run, then of each item in the order of the plan. */
export interface PlanOrigins {
  readonly run: readonly EffectiveValue[];
  /** Made on request: a plan of 100,000 items has millions of values. */
  item(index: number): readonly EffectiveValue[];
}
