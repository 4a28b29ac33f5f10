/**
 * One expectation of a scenario file in its one form.
 * Owns the defaults of its bounds; that it is exactly one kind was checked.
 */
import type { Expression } from '../expression/expression.ts';
import { lengthMs } from './figures.ts';
import type { Expectation, ScenarioSpan } from './scenario.ts';
import { EXPECTATION_KEYS, type ExpectationDocument } from './scenario-schema.ts';

export interface ExpectationContext {
  readonly untilMs: number;
  /** The compiled expression of a key, with its place. */
  condition(key: string): { readonly that: Expression; readonly span: ScenarioSpan } | null;
}

/** Null for an expectation without an expression: that was said. */
export function buildExpectation(
  written: ExpectationDocument,
  { untilMs, condition }: ExpectationContext,
): Expectation | null {
  const kind = EXPECTATION_KEYS.find((key) => written[key] !== undefined);
  const found = kind === undefined ? null : condition(kind === 'at' ? 'that' : kind);
  if (kind === undefined || found === null) return null;
  const { within, name, why, level } = written;
  const about = {
    ...found,
    level: level === 'warn' ? ('warning' as const) : ('error' as const),
    why: why ?? null,
    name: name ?? found.that.source,
  };
  switch (kind) {
    case 'at':
      return { ...about, kind, atMs: lengthMs(written.at ?? ''), withinMs: lengthMs(within ?? '0s') };
    case 'eventually':
      return { ...about, kind, withinMs: within === undefined ? untilMs : lengthMs(within) };
    case 'always':
    case 'never':
    case 'end':
      return { ...about, kind };
  }
}
