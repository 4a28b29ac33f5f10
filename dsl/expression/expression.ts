/**
 * Typed expressions behind one interface: conditions of rules, and expectations of scenarios.
 * Owns the shapes; which engine evaluates is known to one file only.
 */

import type { ExpressionScope } from './expression-scope.ts';

/** Values that expressions are given and give back. Times are instants, lengths of time are durations. */
export type Value = unknown;

/** A sub-expression with the value it had: why a whole came out as it did. */
export interface PartValue {
  readonly source: string;
  readonly value: Value;
}

/** A checked expression; evaluating it never changes anything. */
export interface Expression {
  /** As it stands in the file, trimmed. */
  readonly source: string;
  /** @throws ParleyError expression_failed when the values make it impossible: a missing key, a division by 0 */
  evaluate(values: Readonly<Record<string, Value>>): Value;
  /** Its operands with their values, outermost first; what cannot be evaluated alone is left out. */
  explain(values: Readonly<Record<string, Value>>): readonly PartValue[];
}

/** `syntax`: no expression; `name`: an unknown name; `type`: types that do not fit; `value`: a literal that is never valid; `size`: too large. */
export type ExpressionProblemKind = 'syntax' | 'name' | 'type' | 'value' | 'size';

export interface ExpressionProblem {
  readonly kind: ExpressionProblemKind;
  readonly message: string;
  /** Offset in the source in UTF-16 units, and the offset behind the problem. */
  readonly start: number;
  readonly end: number;
  readonly remedy: string | null;
}

/** A key that the expression names as a literal, with its offsets. */
export interface NamedKey {
  readonly key: string;
  readonly start: number;
  readonly end: number;
}

/** What an expression reads, known without evaluating it. */
export interface ExpressionUse {
  /** False when it depends on nothing and so is always the same. */
  readonly varies: boolean;
  readonly keys: readonly NamedKey[];
}

export type Compiled =
  | { readonly ok: true; readonly expression: Expression; readonly use: ExpressionUse }
  | { readonly ok: false; readonly problem: ExpressionProblem };

/** Which names an expression may use, by phase; an engine is made for one of them. */
export type ExpressionPhase = 'item' | 'observation';

/** What an expression is for: a condition is true or false, a text takes whatever has one spelling. */
export type ExpressionKind = 'condition' | 'text';

export interface ExpressionEngine {
  /** Parses and type-checks; the result is a bool, or it is a problem. */
  compileCondition(source: string, phase: ExpressionPhase): Compiled;
  /** The same in a scope that a job makes: of its inputs, its axes, its columns. */
  compileIn(source: string, scope: ExpressionScope, kind: ExpressionKind): Compiled;
}
