/**
 * A JSON Schema as rows for people: one for each key, with its type, its bounds and what it does.
 * Owns the walk and the words of types; must not know which language the schema describes.
 */
import type { JsonSchema } from '../schema/shorthand.ts';
import * as hostRules from '../schema/code-host-rule.ts';
import * as rules from '../schema/text-rule.ts';

export interface KeyRow {
  /** Dotted from the top; `[]` behind a list, `NAME` for a name that the user gives. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly about: string;
}

/** Keys of a length of time that varies; they are described once, and not at every place. */
const DISTRIBUTION_KEY = 'dist';

/** Rows below a part of the schema, in its order; each path once. */
export function rowsBelow(schema: JsonSchema, path: string): KeyRow[] {
  const rows = new Map<string, KeyRow>();
  collect(schema, path, rows);
  return [...rows.values()];
}

function collect(schema: JsonSchema, path: string, rows: Map<string, KeyRow>): void {
  const alternatives = formsOf(schema);
  if (alternatives.some((form) => DISTRIBUTION_KEY in propertiesOf(form))) return;
  for (const form of alternatives) {
    const required = (form['required'] ?? []) as readonly string[];
    for (const [key, value] of Object.entries(propertiesOf(form)))
      add(value, `${path}${path === '' ? '' : '.'}${key}`, { isRequired: required.includes(key), rows });
    const named = form['additionalProperties'];
    const name = `${path}.NAME`;
    if (isSchema(named) && formsOf(named).some((inner) => Object.keys(propertiesOf(inner)).length > 0))
      add(named, name, { isRequired: false, rows });
  }
}

function add(
  schema: JsonSchema,
  path: string,
  { isRequired, rows }: { readonly isRequired: boolean; readonly rows: Map<string, KeyRow> },
): void {
  const shown = isList(schema) ? `${path}[]` : path;
  const before = rows.get(shown);
  rows.set(shown, {
    path: shown,
    type: joined(before?.type ?? '', typeOf(schema), OR),
    isRequired: (before?.isRequired ?? true) && isRequired,
    about: joined(before?.about ?? '', aboutOf(schema), ' '),
  });
  collect(schema, shown, rows);
}

/** Each part once: a key of several forms says what they have in common only once. */
function joined(before: string, added: string, by: string): string {
  if (before === '' || before === added) return added;
  if (by !== OR) return before.includes(added) ? before : `${before}${by}${added}`;
  return [...new Set([...before.split(OR), ...added.split(OR)])].join(OR);
}

const OR = ' or ';

/** The part itself, the spellings that it allows, and what its lists hold. */
function formsOf(schema: JsonSchema): JsonSchema[] {
  const either = ['anyOf', 'oneOf'].flatMap((name) => (schema[name] ?? []) as JsonSchema[]);
  const items = schema['items'];
  return [schema, ...either.flatMap(formsOf), ...(isSchema(items) ? formsOf(items) : [])];
}

/** What it does, from the part or else from one of its spellings. */
export function aboutOf(schema: JsonSchema): string {
  const said = formsOf(schema).find((form) => typeof form['description'] === 'string');
  return said === undefined ? '' : String(said['description']);
}

/** A map for which a list is only the short spelling has the path of a map. */
function isList(schema: JsonSchema): boolean {
  const either = (schema['anyOf'] ?? []) as readonly JsonSchema[];
  if (either.some((form) => Object.keys(propertiesOf(form)).length > 0)) return false;
  return schema['type'] === 'array' || either.some((form) => form['type'] === 'array');
}

/** With bounds: `whole number, 1 to 10000`. */
export function typeOf(schema: JsonSchema): string {
  const either = ['anyOf', 'oneOf'].flatMap((name) => (schema[name] ?? []) as JsonSchema[]).filter(saysMore);
  if (either.length > 0) return [...new Set(either.map(typeOf))].filter((type) => type !== INPUT).join(OR);
  const { type } = schema;
  if (schema['const'] !== undefined) return code(schema['const']);
  const choices = schema['enum'] as readonly unknown[] | undefined;
  if (choices !== undefined) return choices.map(code).join(', ');
  if (Array.isArray(type)) return type.map((one: unknown) => typeOf({ type: one })).join(OR);
  switch (type) {
    case 'array':
      return `list${bounds(schema, 'minItems', 'maxItems')} of ${isSchema(schema['items']) ? typeOf(schema['items']) : 'anything'}`;
    case 'integer':
      return `whole number${bounds(schema, 'minimum', 'maximum')}`;
    case 'number':
      return `number${bounds(schema, 'minimum', 'maximum')}`;
    case 'boolean':
      return 'true or false';
    case 'string':
      return textType(schema);
    case 'object':
      return 'map';
    default:
      return 'anything';
  }
}

/** Which keys stand together says nothing of what they are. */
function saysMore(form: JsonSchema): boolean {
  return Object.keys(form).some((name) => name !== 'required');
}

/** An input may stand for any scalar; it is said once. */
const INPUT = 'an input';

function textType(schema: JsonSchema): string {
  const pattern = String(schema['pattern'] ?? '');
  if (pattern.startsWith('^\\$\\{\\{ *inputs')) return INPUT;
  const rule = pattern === '' ? undefined : RULES.find(({ source }) => pattern.includes(source));
  return rule?.word ?? `text${bounds(schema, 'minLength', 'maxLength', ' characters')}`;
}

/** What a text is, by the rule that it is held to: `duration`, `branch name`. The longest pattern that fits says most. */
const RULES: readonly { readonly source: string; readonly word: string }[] = Object.values({
  ...rules,
  ...hostRules,
})
  .filter((rule): rule is rules.TextRule => typeof rule === 'object' && 'what' in rule)
  .map((rule) => ({ source: rules.schemaPattern(rule), word: rule.what.replace(/^an? /, '') }))
  .sort((a, b) => b.source.length - a.source.length);

function bounds(schema: JsonSchema, low: string, high: string, unit = ''): string {
  const from = Number(schema[low] ?? -Infinity);
  const to = Number(schema[high] ?? Infinity);
  const isWide = to >= Number.MAX_SAFE_INTEGER;
  if (from <= Number.MIN_SAFE_INTEGER) return isWide ? '' : `, at most ${to}${unit}`;
  return isWide ? `, from ${from}${unit}` : `, ${from} to ${to}${unit}`;
}

function code(value: unknown): string {
  return `\`${String(value)}\``;
}

function propertiesOf(schema: JsonSchema): Readonly<Record<string, JsonSchema>> {
  return (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
}

/** A part of a schema that is one itself, and no list of them. */
export function isSchema(value: unknown): value is JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
