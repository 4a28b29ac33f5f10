/**
 * The names that expressions of a job can use before anything runs: its inputs, axes, columns, the number of the copy.
 * Owns which of them there are, and how their values reach an expression.
 */
import { FUNCTIONS } from '../expression/context-types.ts';
import type { RecordType, ExpressionScope } from '../expression/expression-scope.ts';
import { TEXT_FUNCTIONS } from '../expression/text-functions.ts';

/** Types of values, as the expression language spells them. */
export type FieldType = 'string' | 'int' | 'double' | 'bool' | 'dyn';
export type FieldTypes = Readonly<Record<string, FieldType>>;

export interface PlanNames {
  readonly inputs: FieldTypes;
  /** Null under `defaults`, where the axes are those of the conversation that inherits. */
  readonly axes: readonly string[] | null;
  /** Null where they are not known: under `defaults`, or for a file that cannot be read. */
  readonly columns: FieldTypes | null;
  /** The file the columns come from, or the key, as a finding calls it; null without items. */
  readonly rowsFile: string | null;
  /** Whether `id` may be used, as in a key. */
  readonly withId: boolean;
}

export type FieldValue = string | number | boolean | null | object;

/** The values of one item to be. */
export interface PlanValues {
  readonly id: string;
  /** From 1. */
  readonly repeat: number;
  readonly inputs: Readonly<Record<string, string | number | boolean>>;
  readonly matrix: Readonly<Record<string, string>>;
  readonly item: Readonly<Record<string, FieldValue>>;
  /** Numbers of the item that its file spells otherwise, by their path. */
  readonly written?: ReadonlyMap<string, string>;
}

export interface PlanScope extends ExpressionScope {
  values(of: PlanValues): Readonly<Record<string, unknown>>;
}

const PLAN_FUNCTIONS: readonly string[] = [...FUNCTIONS, ...TEXT_FUNCTIONS.map(({ name }) => name)];

export function createPlanScope(names: PlanNames): PlanScope {
  const records = recordsOf(names);
  const classes = new Map(records.map(({ name }) => [name, class {} as new () => object]));
  const variables: Record<string, string> = { repeat: 'int', ...(names.withId ? { id: 'string' } : {}) };
  for (const { name } of records) variables[VARIABLES[name as RecordName]] = name;
  if (names.axes === null) variables['matrix'] = 'dyn';
  if (names.columns === null) variables['item'] = 'dyn';
  const known = Object.keys(variables).sort().join(', ');
  return {
    variables,
    records,
    functions: PLAN_FUNCTIONS,
    knows: `before a run there are ${known}`,
    classOf: (record) => classes.get(record) ?? Object,
    values: valuesOf(names, classes),
  };
}

function valuesOf(
  names: PlanNames,
  classes: ReadonlyMap<string, new () => object>,
): (of: PlanValues) => Readonly<Record<string, unknown>> {
  const inputsOf = keptLast((inputs: PlanValues['inputs']) =>
    fill(classes.get('Inputs'), inputs, names.inputs),
  );
  const axesOf = keptLast((matrix: PlanValues['matrix']) => fill(classes.get('Axes'), matrix, null));
  const rowOf = keptLast((item: PlanValues['item']) => fill(classes.get('Row'), item, names.columns));
  return ({ id, repeat, inputs, matrix, item }) => ({
    id,
    repeat: BigInt(repeat),
    inputs: inputsOf(inputs),
    matrix: axesOf(matrix),
    item: rowOf(item),
  });
}

/** Several expressions are evaluated for one item in turn, and inputs are those of the whole job. */
function keptLast<Given extends object>(convert: (given: Given) => object): (given: Given) => object {
  let last: Given | null = null;
  let converted: object = {};
  return (given) => {
    if (given === last) return converted;
    converted = convert(given);
    last = given;
    return converted;
  };
}

const VARIABLES = { Inputs: 'inputs', Axes: 'matrix', Row: 'item' } as const;
type RecordName = keyof typeof VARIABLES;

function recordsOf({ inputs, axes, columns, rowsFile }: PlanNames): RecordType[] {
  const record = (name: RecordName, spoken: string, fields: FieldTypes | null): RecordType[] =>
    fields === null || Object.keys(fields).length === 0 ? [] : [{ name, spoken, fields }];
  const axisTypes = axes === null ? null : Object.fromEntries(axes.map((axis) => [axis, 'string' as const]));
  return [
    ...record('Inputs', 'the inputs', inputs),
    ...record('Axes', 'the matrix', axisTypes),
    ...record('Row', `a row of ${rowsFile ?? 'the data file'}`, columns),
  ];
}

/** Whole numbers of the language are big integers. */
function fill(
  type: (new () => object) | undefined,
  values: Readonly<Record<string, FieldValue>>,
  types: FieldTypes | null,
): object {
  const filled = Object.assign(type === undefined ? {} : new type(), values) as Record<string, unknown>;
  for (const [name, fieldType] of Object.entries(types ?? {}))
    if (fieldType === 'int') filled[name] = BigInt(values[name] as number);
  return filled;
}
