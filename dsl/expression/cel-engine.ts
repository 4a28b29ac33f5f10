/**
 * Expressions in CEL, the Common Expression Language.
 * Owns the library behind them: no other file imports it. Names and types come from context-types.ts.
 */
import { Environment } from '@marcbachmann/cel-js';

import { ParleyError } from '../../core/parley-error.ts';
import { BY_KEY, BY_KEY_SIGNATURE, PHASE_VARIABLES, RECORD_TYPES, functionsOf } from './context-types.ts';
import { explainProblem, type EngineFailure } from './explain-problem.ts';
import type {
  Compiled,
  Expression,
  ExpressionEngine,
  ExpressionKind,
  ExpressionPhase,
  ExpressionProblem,
  ExpressionUse,
  NamedKey,
  PartValue,
  Value,
} from './expression.ts';
import { findMisuse, findNeverTrue, NODES_MAX, DEPTH_MAX, SOURCE_MAX } from './misuse.ts';
import { partsOf } from './parts.ts';
import type { ExpressionScope } from './expression-scope.ts';
import { recordClass } from './record.ts';
import { type SyntaxNode, callOf, literalText, walk } from './syntax.ts';
import { TEXT_FUNCTIONS } from './text-functions.ts';

type Values = Readonly<Record<string, Value>>;

interface LengthOfTime {
  valueOf(): number;
}
type LengthOfTimeClass = new (seconds: bigint, nanoseconds: number) => LengthOfTime;

/** What has one spelling as text. */
const TEXT_TYPES: ReadonlySet<string> = new Set(['string', 'int', 'double', 'bool', 'dyn']);

const NANO_PER_MS = 1_000_000;
const MS_PER_SECOND = 1_000;

/** The library does not export its class of durations; a value of its own leads there. */
const Duration = (new Environment().evaluate("duration('0s')") as LengthOfTime)
  .constructor as LengthOfTimeClass;

/** Whole milliseconds as a `duration` of the language. */
export function durationValue(durationMs: number): Value {
  const seconds = Math.floor(durationMs / MS_PER_SECOND);
  return new Duration(BigInt(seconds), (durationMs - seconds * MS_PER_SECOND) * NANO_PER_MS);
}

/** Milliseconds of a `duration`; null for any other value. */
export function durationMsOf(value: Value): number | null {
  return value instanceof Duration ? Number(value) : null;
}

export function createCelEngine(): ExpressionEngine {
  const environments = new WeakMap<ExpressionScope, ScopeEnvironment>();
  const environmentOf = (scope: ExpressionScope): ScopeEnvironment => {
    const known = environments.get(scope) ?? createEnvironment(scope);
    environments.set(scope, known);
    return known;
  };
  return {
    compileCondition: (source, phase) => compile(source, environmentOf(scopeOfPhase(phase)), 'condition'),
    compileIn: (source, scope, kind) => compile(source, environmentOf(scope), kind),
  };
}

interface ScopeEnvironment {
  readonly scope: ExpressionScope;
  readonly cel: Environment;
  /** What functions look things up in, while an evaluation runs. */
  readonly current: { values: Values };
}

function createEnvironment(scope: ExpressionScope): ScopeEnvironment {
  const cel = new Environment({ limits: { maxAstNodes: NODES_MAX, maxDepth: DEPTH_MAX } });
  const current: { values: Values } = { values: {} };
  for (const { name, fields } of scope.records) {
    const typed = Object.entries(fields).map(([field, type]) => [field, libraryType(type)]);
    cel.registerType(name, {
      ctor: scope.classOf(name),
      fields: Object.fromEntries(typed) as Record<string, string>,
    });
  }
  for (const [name, type] of Object.entries(scope.variables)) cel.registerVariable(name, libraryType(type));
  if (scope.functions.includes(BY_KEY))
    cel.registerFunction(BY_KEY_SIGNATURE, (key: string) => findByKey(current.values, key));
  for (const { name, of } of TEXT_FUNCTIONS)
    if (scope.functions.includes(name)) cel.registerFunction(`${name}(string): string`, of);
  return { scope, cel, current };
}

/** The library spells the two types of time by their full names. */
function libraryType(type: string): string {
  return type === 'duration' ? 'google.protobuf.Duration' : type;
}

function findByKey(values: Values, key: string): unknown {
  const convs = values['convs'] as readonly { readonly key: string }[];
  const found = convs.find((conversation) => conversation.key === key);
  if (found === undefined) throw new Error(`no conversation has the key ${JSON.stringify(key)}`);
  return found;
}

function compile(written: string, environment: ScopeEnvironment, kind: ExpressionKind): Compiled {
  const source = written.trim();
  const lead = written.length - written.trimStart().length;
  const problem = (found: ExpressionProblem): Compiled => ({
    ok: false,
    problem: { ...found, start: found.start + lead, end: found.end + lead },
  });
  if (source.length > SOURCE_MAX) {
    const message = `the expression has ${source.length} characters, and at most ${SOURCE_MAX} are read`;
    return problem({ kind: 'size', message, start: 0, end: source.length, remedy: 'split it in two' });
  }
  const { cel, scope } = environment;
  const parsed = attempt(() => cel.parse(source));
  if (!parsed.ok) return problem(explainProblem(parsed.failure, { scope, source, root: null }));
  const root = parsed.value.ast as SyntaxNode;
  const early = findMisuse(root, source, { scope, isEvaluable: (text) => isEvaluable(cel, text) });
  if (early !== null) return problem(early);
  const checked = parsed.value.check();
  if (!checked.valid) {
    const failure = failureOf(checked.error);
    return problem(explainProblem(failure, { scope, source, root }));
  }
  const type = checked.type ?? '';
  const fits = kind === 'condition' ? type === 'bool' : TEXT_TYPES.has(type);
  if (!fits) {
    const code = kind === 'condition' ? 'not_bool' : 'not_text';
    return problem(explainProblem({ code, summary: type, range: null }, { scope, source, root }));
  }
  const never = findNeverTrue(root, scope);
  if (never !== null) return problem(never);
  const keys = useOf(root, scope);
  const shifted = keys.keys.map((key) => ({ ...key, start: key.start + lead, end: key.end + lead }));
  const evaluate = (values: Values): Value => run(environment, () => parsed.value(values) as Value, values);
  return {
    ok: true,
    expression: createExpression({ source, root, evaluate, environment }),
    use: { ...keys, keys: shifted },
  };
}

function isEvaluable(cel: Environment, text: string): boolean {
  return attempt(() => cel.evaluate(text) as unknown).ok;
}

interface Checked {
  readonly source: string;
  readonly root: SyntaxNode;
  readonly evaluate: (values: Values) => Value;
  readonly environment: ScopeEnvironment;
}

function createExpression({ source, root, evaluate, environment }: Checked): Expression {
  let parts: readonly { readonly source: string; readonly evaluate: (values: Values) => unknown }[] | null =
    null;
  return {
    source,
    evaluate(values) {
      const result = attempt(() => evaluate(values));
      if (result.ok && !isTooLarge(result.value)) return result.value;
      const summary = result.ok ? 'integer overflow' : result.failure.summary;
      throw new ParleyError('expression_failed', `Cannot evaluate "${source}": ${summary}`, {
        details: { expression: source },
      });
    },
    explain(values): PartValue[] {
      parts ??= partsOf(root, source).flatMap((part) => {
        const parsed = attempt(() => environment.cel.parse(part));
        return parsed.ok ? [{ source: part, evaluate: (given: Values) => parsed.value(given) as Value }] : [];
      });
      return parts.flatMap((part) => {
        const result = attempt(() => run(environment, () => part.evaluate(values), values));
        return result.ok ? [{ source: part.source, value: result.value }] : [];
      });
    },
  };
}

/** Whole numbers have 64 bits; the library holds sums to that, and neither a changed sign nor a conversion. */
function isTooLarge(value: Value): boolean {
  return typeof value === 'bigint' && BigInt.asIntN(64, value) !== value;
}

function run(environment: ScopeEnvironment, evaluate: () => Value, values: Values): Value {
  environment.current.values = values;
  return evaluate();
}

type Attempt<T> =
  { readonly ok: true; readonly value: T } | { readonly ok: false; readonly failure: EngineFailure };

function attempt<T>(act: () => T): Attempt<T> {
  try {
    return { ok: true, value: act() };
  } catch (error) {
    return { ok: false, failure: failureOf(error) };
  }
}

/** Errors of the library carry a code, a summary without the excerpt, and a range; any other has its message. */
function failureOf(error: unknown): EngineFailure {
  if (error instanceof RangeError)
    return { code: 'too_large', summary: 'a value grows too large', range: null };
  const known = error as Partial<EngineFailure> & { readonly message?: string };
  return {
    code: known.code ?? 'failed',
    summary: known.summary ?? known.message ?? String(error),
    range: known.range ?? null,
  };
}

function useOf(root: SyntaxNode, { variables }: ExpressionScope): ExpressionUse {
  const keys: NamedKey[] = [];
  let varies = false;
  for (const { node } of walk(root)) {
    const call = callOf(node);
    if (node.op === 'id' && Object.hasOwn(variables, String(node.args))) varies = true;
    if (call?.name !== BY_KEY) continue;
    varies = true;
    const [argument] = call.args;
    const key = literalText(argument);
    if (argument !== undefined && key !== null) keys.push({ key, start: argument.start, end: argument.end });
  }
  return { varies, keys };
}

const PHASE_SCOPES: ReadonlyMap<ExpressionPhase, ExpressionScope> = new Map(
  (['item', 'observation'] as const).map((phase) => [phase, scopeOf(phase)]),
);

/** The scopes of the two phases of a scenario. */
function scopeOfPhase(phase: ExpressionPhase): ExpressionScope {
  return PHASE_SCOPES.get(phase) ?? scopeOf(phase);
}

function scopeOf(phase: ExpressionPhase): ExpressionScope {
  const variables = PHASE_VARIABLES[phase];
  const names = Object.keys(variables).join(', ');
  return {
    variables,
    records: RECORD_TYPES,
    functions: functionsOf(phase),
    knows: phase === 'item' ? 'a rule knows "item" alone' : `an expectation knows ${names}`,
    classOf: recordClass,
  };
}
