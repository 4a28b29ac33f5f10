/**
 * Texts and conditions of a job, compiled once and filled for every item.
 * Owns the short way for plain names, which need no engine; what is filled in is never read again.
 */
import { ParleyError } from '../../core/parley-error.ts';
import { SOURCE_BYTES_MAX } from '../read/decode-source.ts';
import { createCelEngine } from '../expression/cel-engine.ts';
import type { ExpressionEngine, ExpressionProblem } from '../expression/expression.ts';
import { once } from './once.ts';
import {
  createPlanScope,
  type FieldValue,
  type PlanNames,
  type PlanScope,
  type PlanValues,
} from './plan-scope.ts';
import { parseTemplate } from './template.ts';

/** Why a text could not be filled, or a condition not be asked: in words, for a finding. */
export class FillFailure {
  readonly reason: string;
  constructor(reason: string) {
    this.reason = reason;
  }
}

export type Fill = (values: PlanValues) => string | FillFailure;
export type Condition = (values: PlanValues) => boolean | FillFailure;

export interface Interpolator {
  fill(text: string): Fill;
  /** Asks a condition that was checked. */
  condition(source: string): Condition;
  /** What is wrong with an expression inside a text; null when nothing is. */
  problemOfText(source: string): ExpressionProblem | null;
  problemOfCondition(source: string): ExpressionProblem | null;
  /** False when a condition depends on nothing and so is always the same. */
  varies(source: string): boolean;
}

/** As much as a file may have: a text that is filled again and again grows beyond any store. */
export const FILLED_CHARS_MAX = SOURCE_BYTES_MAX;

export function grownTooLong(): FillFailure {
  return new FillFailure(`the text grows beyond ${FILLED_CHARS_MAX} characters`);
}

/** One engine for all: making it costs more than any expression. */
const engine = once(createCelEngine);

export function createInterpolator(names: PlanNames): Interpolator {
  const scope = once(() => createPlanScope(names));
  const fills = new Map<string, Fill>();
  return {
    fill(text) {
      const known = fills.get(text) ?? compileText(text, scope);
      fills.set(text, known);
      return known;
    },
    condition: (source) => compileCondition(source, scope),
    problemOfText: (source) => problemOf(engine().compileIn(source, scope(), 'text')),
    problemOfCondition: (source) => problemOf(engine().compileIn(source, scope(), 'condition')),
    varies(source) {
      const compiled = engine().compileIn(source, scope(), 'condition');
      return !compiled.ok || compiled.use.varies;
    },
  };
}

function problemOf(compiled: ReturnType<ExpressionEngine['compileIn']>): ExpressionProblem | null {
  return compiled.ok ? null : compiled.problem;
}

function compileText(text: string, scope: () => PlanScope): Fill {
  if (!text.includes('${{')) return () => text;
  const pieces = parseTemplate(text).parts.map((part) =>
    part.kind === 'literal' ? part.text : compileExpression(part.source, scope),
  );
  const [only] = pieces;
  if (pieces.length === 1 && typeof only === 'function') return only;
  return (values) => {
    let filled = '';
    for (const piece of pieces) {
      const added = typeof piece === 'string' ? piece : piece(values);
      if (added instanceof FillFailure) return added;
      if (filled.length + added.length > FILLED_CHARS_MAX) return grownTooLong();
      filled += added;
    }
    return filled;
  };
}

/** A name alone, such as `item.repo`, is looked up; anything else is for the engine. */
export const PLAIN_NAME = /^(inputs|matrix|item)\.([A-Za-z_][A-Za-z0-9_]*)$|^(id|repeat)$/;

/** A place in a row, such as `item.version` or `item.tags[0].size`. */
const ITEM_PATH = /^item\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[\d+\])*)$/;

/** A number alone is filled in as its file spells it: 3.10 stays 3.10. */
function compileExpression(source: string, scope: () => PlanScope): Fill {
  const fill = compileValue(source, scope);
  const path = ITEM_PATH.exec(source)?.[1];
  return path === undefined ? fill : (values) => values.written?.get(path) ?? fill(values);
}

function compileValue(source: string, scope: () => PlanScope): Fill {
  const plain = PLAIN_NAME.exec(source);
  if (plain !== null) return plainFill(plain);
  const compiled = engine().compileIn(source, scope(), 'text');
  if (!compiled.ok) return () => new FillFailure(compiled.problem.message);
  const { expression } = compiled;
  return (values) => attempt(() => textOf(expression.evaluate(scope().values(values))));
}

function plainFill([, group, name, single]: RegExpExecArray): Fill {
  if (single === 'id') return ({ id }) => id;
  if (single === 'repeat') return ({ repeat }) => String(repeat);
  const at = group as 'inputs' | 'matrix' | 'item';
  // An axis that a conversation does not have leaves nothing: "defaults" are shared by those with and without it.
  return (values) => textOf((values[at] as Readonly<Record<string, FieldValue>>)[name ?? ''] ?? '');
}

function compileCondition(source: string, scope: () => PlanScope): Condition {
  const compiled = engine().compileIn(source, scope(), 'condition');
  if (!compiled.ok) return () => new FillFailure(compiled.problem.message);
  const { expression } = compiled;
  return (values) => attempt(() => expression.evaluate(scope().values(values)) === true);
}

function attempt<T>(act: () => T): T | FillFailure {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof ParleyError)) throw error;
    const reason = error.message.slice(error.message.lastIndexOf('": ') + 3);
    // The engine does not know the length of a list of ours.
    return new FillFailure(reason.replace(' >= size undefined', ''));
  }
}

function textOf(value: unknown): string | FillFailure {
  switch (typeof value) {
    case 'string':
      return value;
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value);
    default:
      return new FillFailure('it is no text, number, true or false');
  }
}
