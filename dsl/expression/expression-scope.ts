/**
 * The names that one kind of expression can use: variables with types, the records they hold, functions.
 * Owns the shape; context-types.ts has those of a scenario, ../plan/plan-scope.ts makes those of a job.
 */

/** `list<…>` and record names included, as the expression language spells types. */
export type TypeName = string;

export interface RecordType {
  readonly name: string;
  /** As in `unknown field "x" of a conversation`. */
  readonly spoken: string;
  readonly fields: Readonly<Record<string, TypeName>>;
  /** Fields that hold one of a few words; "" stands for none yet. */
  readonly words?: Readonly<Record<string, readonly string[]>>;
}

export interface ExpressionScope {
  /** Name → type, spelled as the expression language does. */
  readonly variables: Readonly<Record<string, string>>;
  readonly records: readonly RecordType[];
  readonly functions: readonly string[];
  /** Completes the remedy for an unknown name: `an expectation knows run, budget`. */
  readonly knows: string;
  /** The class whose instances are values of a record. */
  classOf(record: string): new () => object;
}
