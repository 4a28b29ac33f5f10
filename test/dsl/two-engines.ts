/**
 * One expression on two engines: the one of the language, behind its interface, and another implementation of CEL.
 * Owns the values that both are given, and the spelling in which what they give back is compared; must not judge.
 */
import { celFunc, CelScalar, isCelError, isCelList, isCelMap, run, type CelInput } from '@bufbuild/cel';
import { strings } from '@bufbuild/cel/ext';

import { createCelEngine, durationMsOf, durationValue } from '../../dsl/expression/cel-engine.ts';
import type { ExpressionScope } from '../../dsl/expression/expression-scope.ts';
import { FUNCTIONS } from '../../dsl/expression/context-types.ts';
import { TEXT_FUNCTIONS } from '../../dsl/expression/text-functions.ts';

/** The names of a table: one of each type that a context of the language has, maps, lists and records of them. */
export const VARIABLES = {
  flag: { type: 'bool', value: true },
  many: { type: 'int', value: 7n },
  ratio: { type: 'double', value: 2.5 },
  word: { type: 'string', value: 'Straße 1, Köln' },
  length: { type: 'duration', value: 5_400_500 },
  tags: { type: 'map<string, string>', value: { team: 'core', tier: 'gold' } },
  numbers: { type: 'list<int>', value: [1n, 2n, 3n] },
  words: { type: 'list<string>', value: ['strong', 'fast'] },
  row: { type: 'Row', value: { repo: 'acme/shop', tier: 'gold', size: 12n } },
  rows: { type: 'list<Row>', value: [{ repo: 'acme/shop', tier: 'gold', size: 12n }] },
} as const;

class Row {}

const scope: ExpressionScope = {
  variables: Object.fromEntries(Object.entries(VARIABLES).map(([name, { type }]) => [name, type])),
  records: [{ name: 'Row', spoken: 'a row', fields: { repo: 'string', tier: 'string', size: 'int' } }],
  functions: [...FUNCTIONS, ...TEXT_FUNCTIONS.map(({ name }) => name)],
  knows: 'there are the names of the table',
  classOf: () => Row,
};

const engine = createCelEngine();
const ourValues = Object.fromEntries(
  Object.entries(VARIABLES).map(([name, { type, value }]) => [name, ourValue(type, value)]),
);
const secondValues = Object.fromEntries(
  Object.entries(VARIABLES).map(([name, { type, value }]) => [name, secondValue(type, value)]),
);
const secondFunctions = [
  ...strings,
  ...TEXT_FUNCTIONS.map(({ name, of }) => celFunc(name, [CelScalar.STRING], CelScalar.STRING, of)),
];

function ourValue(type: string, value: unknown): unknown {
  if (type === 'duration') return durationValue(value as number);
  if (type === 'Row') return Object.assign(new Row(), value);
  return type === 'list<Row>' ? (value as readonly object[]).map((row) => ourValue('Row', row)) : value;
}

/** Lengths of time are values of the engine's own; records are maps to it. */
function secondValue(type: string, value: unknown): CelInput {
  if (type === 'duration') return run(`duration('${(value as number) / 1000}s')`) as CelInput;
  return asMaps(value) as CelInput;
}

function asMaps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(asMaps);
  if (typeof value !== 'object' || value === null) return value;
  return new Map(Object.entries(value).map(([key, field]) => [key, asMaps(field)]));
}

/** The type with the value, `error` when evaluating fails, `refused` when the expression never gets so far. */
export type Spelled = string;

/** On the engine of the language. A value that is no text and no condition is asked for by what can be compared. */
export function evaluateOurs(source: string): Spelled {
  const compiled = engine.compileIn(source, scope, 'text');
  if (!compiled.ok) return 'refused';
  try {
    return spelled(compiled.expression.evaluate(ourValues));
  } catch {
    return 'error';
  }
}

/** Why the engine of the language refuses it; null when it does not. */
export function refusalOf(source: string): string | null {
  const compiled = engine.compileIn(source, scope, 'text');
  return compiled.ok ? null : compiled.problem.message;
}

/** On the other engine, which checks nothing before it evaluates: what does not parse is refused. */
export function evaluateSecond(source: string): Spelled {
  try {
    const value = run(source, secondValues, { funcs: secondFunctions });
    return isCelError(value) ? 'error' : spelled(value);
  } catch {
    return 'refused';
  }
}

function spelled(value: unknown): Spelled {
  switch (typeof value) {
    case 'bigint':
      return `int ${value}`;
    case 'number':
      return Object.is(value, -0) ? 'double -0' : `double ${value}`;
    case 'string':
      return `string ${value}`;
    case 'boolean':
      return `bool ${value}`;
    default:
      return spelledObject(value);
  }
}

function spelledObject(value: unknown): Spelled {
  if (value === null) return 'null';
  const ms = durationMsOf(value);
  if (ms !== null) return `duration ${ms}`;
  if (Array.isArray(value) || isCelList(value)) return `[${[...value].map(spelled).join(', ')}]`;
  // A length of time of the other engine.
  if ('desc' in (value as object)) return 'duration';
  const entries = isCelMap(value) || value instanceof Map ? [...value] : Object.entries(value as object);
  return `{${entries.map(([key, field]) => `${String(key)}: ${spelled(field)}`).join(', ')}}`;
}
