/**
 * The inputs of a job with the values they have for this plan.
 * Owns where a value comes from: what was typed, then the file of values, then the default.
 */
import { didYouMean } from '../check/nearest-name.ts';
import { normalise } from '../read/normalise.ts';
import type { FieldTypes } from '../plan/plan-scope.ts';
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import { inputsSchema, type InputDocument } from '../schema/inputs-schema.ts';
import { looksLikeSecret } from '../check/secret-in-clear.ts';
import type { Span } from '../read/text-position.ts';
import { childOf, keySpanIn, toValue, treeAt, type Tree } from '../read/tree.ts';
import type { GivenInputs, JobWorld } from '../world.ts';
import { inputType, inputValue, typedValue, type InputResult, type InputValue } from './input-value.ts';

export interface ResolvedInputs {
  /** Types by name, for expressions; null when the declarations are broken, so that nothing is known. */
  readonly types: FieldTypes | null;
  readonly values: ReadonlyMap<string, InputValue>;
  /** Inputs without a value: there can be no plan. */
  readonly open: readonly string[];
}

interface Place {
  readonly root: Tree;
  readonly report: Report;
}

interface InputsContext extends Place {
  readonly world: JobWorld;
}

export function resolveInputs({ root, report, world }: InputsContext): ResolvedInputs {
  const tree = childOf(root, 'inputs');
  const declared = tree === undefined ? {} : declarationsOf(tree, report);
  if (declared === null) return { types: null, values: new Map(), open: [] };
  const given = world.inputs ?? { typed: {}, values: {} };
  addUnknown(given, declared, { root, report });
  const values = new Map<string, InputValue>();
  const open: string[] = [];
  for (const [name, input] of Object.entries(declared)) {
    const value = valueOf(name, input, { given, root, report });
    if (value !== null) values.set(name, value);
    else open.push(name);
    if (value === null && world.inputs !== undefined) addMissing(name, { root, report });
  }
  const types = Object.fromEntries(Object.entries(declared).map(([name, input]) => [name, inputType(input)]));
  return { types, values, open };
}

/** Null when they do not fit the schema; the check of the whole file says so. */
function declarationsOf(tree: Tree, report: Report): Readonly<Record<string, InputDocument>> | null {
  const long = normalise(tree, inputsSchema, { report, at: ['inputs'], unknownKey: () => undefined });
  const parsed = inputsSchema.safeParse(toValue(long));
  return parsed.success ? parsed.data : null;
}

interface ValueContext extends Place {
  readonly given: GivenInputs;
}

/** Null without a value, or with one that does not fit. */
function valueOf(
  name: string,
  input: InputDocument,
  { given, root, report }: ValueContext,
): InputValue | null {
  const fallback = checkDefault(name, input, { root, report });
  const result = givenValue(name, input, given);
  if (result === null) return fallback;
  const span = spanOf(root, name);
  if ('value' in result) return refuseSecret(result.value, span, report);
  report.add(
    'JOB315',
    span,
    `the value given for the input ${quote(name)} does not fit: it ${result.problem}`,
  );
  return fallback ?? sample(input);
}

function givenValue(name: string, input: InputDocument, { typed, values }: GivenInputs): InputResult | null {
  const text = Object.hasOwn(typed, name) ? typed[name] : undefined;
  if (text !== undefined) return typedValue(input, text);
  return Object.hasOwn(values, name) ? inputValue(input, values[name]) : null;
}

function checkDefault(name: string, input: InputDocument, { root, report }: Place): InputValue | null {
  if (input.default === undefined) return null;
  const result = inputValue(input, input.default);
  const span = treeAt(root, ['inputs', name, 'default'])?.span ?? spanOf(root, name);
  if ('problem' in result) {
    report.add('JOB315', span, `the default of the input ${quote(name)} does not fit: it ${result.problem}`);
    return sample(input);
  }
  return refuseSecret(result.value, span, report);
}

/** Something that fits, so that a value that was refused is the only finding. */
function sample(input: InputDocument): InputValue {
  switch (input.type) {
    case 'string':
      return 'x';
    case 'enum':
      return input.values[0] ?? '';
    case 'boolean':
      return false;
    case 'int':
    case 'number':
      return input.min ?? input.max ?? 1;
  }
}

/** A plan shows its inputs, so nothing secret may come this way (D20). */
function refuseSecret(value: InputValue, span: Span, report: Report): InputValue {
  if (typeof value === 'string' && looksLikeSecret(value) && !/\s|\//.test(value))
    report.add('JOB218', span, 'a secret does not belong into an input, which the plan shows', {
      remedy: 'declare it under "secrets" and use its name',
    });
  return value;
}

function addMissing(name: string, { root, report }: Place): void {
  report.add('JOB314', spanOf(root, name), `the input ${quote(name)} has no value`, {
    remedy: `give it with --input ${name}=VALUE, or write a "default"`,
  });
}

function addUnknown(
  given: GivenInputs,
  declared: Readonly<Record<string, unknown>>,
  { root, report }: Place,
): void {
  const known = Object.keys(declared);
  for (const name of new Set([...Object.keys(given.typed), ...Object.keys(given.values)])) {
    if (known.includes(name)) continue;
    const list = known.length === 0 ? 'this job has no inputs' : `its inputs are ${known.join(', ')}`;
    const message = `a value is given for ${quote(name)}, which is no input of this job`;
    report.add('JOB316', keySpanIn(root, 'inputs'), message, { remedy: didYouMean(name, known, list) });
  }
}

function spanOf(root: Tree, name: string): Span {
  return keySpanIn(childOf(root, 'inputs'), name);
}
