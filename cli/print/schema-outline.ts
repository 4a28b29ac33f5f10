/**
 * One place of a JSON Schema, for people: what it is, what it takes, which keys it has.
 * Owns the walk along a dotted path; must not know which schema it is.
 */

type Json = Readonly<Record<string, unknown>>;

/** The part of the schema at a path such as `conversations.verify`; lists and names of the user are stepped into. Null when there is none. */
export function schemaPart(schema: Json, path: readonly string[]): Json | null {
  let part: Json | null = schema;
  for (const key of path) part = part === null ? null : step(part, key);
  return part;
}

/** Names that the next step of a path can have. */
export function schemaKeys(schema: Json): readonly string[] {
  return forms(schema).flatMap((form) => Object.keys(object(form['properties']) ?? {}));
}

export function outline(name: string, part: Json): string[] {
  const lines = [`${name}: ${typeOf(part)}`];
  const description = forms(part).map((form) => form['description']);
  for (const text of new Set(description)) if (typeof text === 'string') lines.push(text);
  for (const form of forms(part)) {
    const required = Array.isArray(form['required']) ? form['required'] : [];
    for (const [key, value] of Object.entries(object(form['properties']) ?? {})) {
      const child = object(value) ?? {};
      const about = forms(child).find(({ description: text }) => typeof text === 'string')?.['description'];
      const mark = required.includes(key) ? ', required' : '';
      lines.push(`  ${key}: ${typeOf(child)}${mark}${typeof about === 'string' ? ` - ${about}` : ''}`);
    }
  }
  return lines;
}

function step(part: Json, key: string): Json | null {
  for (const form of forms(part)) {
    const child = object(object(form['properties'])?.[key]);
    if (child !== null) return child;
  }
  for (const form of forms(part)) {
    const named = object(form['additionalProperties']);
    if (named !== null) return named;
  }
  return null;
}

/** The schema itself, the alternatives it allows, and what its lists hold. */
function forms(part: Json): readonly Json[] {
  const alternatives = ['anyOf', 'oneOf', 'allOf'].flatMap((name) => list(part[name]));
  const items = object(part['items']);
  return [part, ...alternatives.flatMap(forms), ...(items === null ? [] : forms(items))];
}

function typeOf(part: Json): string {
  if (Array.isArray(part['enum'])) return part['enum'].map(String).join(' | ');
  if ('const' in part) return String(part['const']);
  if (typeof part['type'] === 'string')
    return part['type'] === 'array' ? `list of ${itemType(part)}` : part['type'];
  const alternatives = ['anyOf', 'oneOf'].flatMap((name) => list(part[name]));
  return alternatives.length === 0 ? 'any' : [...new Set(alternatives.map(typeOf))].join(' | ');
}

function itemType(part: Json): string {
  const items = object(part['items']);
  return items === null ? 'any' : typeOf(items);
}

function object(value: unknown): Json | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : null;
}

function list(value: unknown): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
