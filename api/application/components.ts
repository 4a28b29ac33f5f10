/**
 * The named schemas of the OpenAPI document. Generators make a type of each, so whatever has a form of its own has a
 * name: the one that its schema says (`meta({ id })`), else one after the place where it stands.
 * Owns names and how schemas refer to each other; must not know a route.
 */
import { z } from 'zod';

export type JsonObject = Readonly<Record<string, unknown>>;

/** Names hold for the whole document, so two different schemas under one name are a mistake in our code. */
export class Components {
  readonly #schemas = new Map<string, JsonObject>();
  /** Words as JSON → the name of their list. */
  readonly #words = new Map<string, string>();

  /** The lists of words that have names of their own. */
  constructor(vocabularies: readonly z.ZodType[]) {
    for (const one of vocabularies) {
      const { enum: words } = z.toJSONSchema(one);
      const name = this.schemaOf(one, { io: 'output', name: '' })['$ref'] as string;
      this.#words.set(JSON.stringify(words), nameOf(name));
    }
  }

  /** A schema for use in the document. `name` is for what the schema itself does not name. */
  schemaOf(
    schema: z.ZodType,
    { io, name }: { readonly io: 'input' | 'output'; readonly name: string },
  ): JsonObject {
    const whole = z.toJSONSchema(z.object({ it: schema }), {
      target: 'draft-2020-12',
      io,
      unrepresentable: 'any',
      override: ({ jsonSchema }) => plainly(jsonSchema),
    }) as unknown as Whole;
    return this.#named(whole.properties.it, { name, definitions: whole.$defs ?? {} });
  }

  /** A schema that is written by hand, with a name for each form in it. */
  hoisted(schema: JsonObject, name: string): JsonObject {
    return this.#inner(schema, { name, definitions: {} });
  }

  /** Every schema by its name, sorted, so that the document has one text. */
  all(): JsonObject {
    return Object.fromEntries([...this.#schemas].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  /** @throws Error the name is taken by another schema */
  add(name: string, schema: JsonObject): JsonObject {
    const known = this.#schemas.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two schemas of the document are called ${name}`);
    this.#schemas.set(name, schema);
    return { $ref: `#/components/schemas/${name}` };
  }

  #named(node: JsonObject, place: Place): JsonObject {
    const { $ref, ...beside } = node as { readonly $ref?: string };
    if ($ref !== undefined) {
      const name = $ref.replace('#/$defs/', '');
      const { id: _id, ...defined } = (place.definitions[name] ?? {}) as JsonObject & { id?: string };
      const { type, enum: words } = defined as JsonObject;
      const inner = words === undefined ? this.#inner(defined, { ...place, name }) : { type, enum: words };
      return { ...this.add(name, inner), ...beside };
    }
    const inner = this.#inner(node, place);
    if (inner['enum'] !== undefined) return this.#vocabulary(inner, place.name);
    return deservesName(inner) ? this.add(place.name, inner) : inner;
  }

  /** The same words are one type, wherever they stand; what is said about one place stays there. */
  #vocabulary({ type, enum: words, ...beside }: JsonObject, name: string): JsonObject {
    const own = JSON.stringify(words);
    const known = this.#words.get(own) ?? name;
    this.#words.set(own, known);
    return { ...this.add(known, { type, enum: words }), ...beside };
  }

  #inner(node: JsonObject, place: Place): JsonObject {
    const within = (child: unknown, suffix: string): JsonObject =>
      this.#named(child as JsonObject, { ...place, name: `${place.name}${suffix}` });
    const entries = Object.entries(node).map(([key, value]) => {
      switch (key) {
        case 'properties':
          return [key, mapValues(value as JsonObject, (child, name) => within(child, pascalCase(name)))];
        case 'items':
          return [key, within(value, 'Item')];
        case 'additionalProperties':
          return [key, typeof value === 'object' ? within(value, 'Value') : value];
        case 'anyOf':
        case 'oneOf':
          return [key, variants(value as readonly JsonObject[], within)];
        default:
          return [key, value];
      }
    });
    return discriminated(Object.fromEntries(entries) as JsonObject, (name) => this.#schemas.get(name));
  }
}

interface Whole {
  readonly properties: { readonly it: JsonObject };
  readonly $defs?: Definitions;
}

type Definitions = Readonly<Record<string, JsonObject>>;

interface Place {
  readonly name: string;
  readonly definitions: Definitions;
}

/** `StartTask` for `start_task`. */
export function pascalCase(name: string): string {
  return name
    .split(/[^A-Za-z0-9]+/)
    .map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))
    .join('');
}

/** What most generators read: whole numbers that need 64 bits say so, and a list of words needs no pattern beside it. */
function plainly(schema: Record<string, unknown>): void {
  if (schema['type'] === 'integer' && schema['format'] === undefined)
    schema['format'] =
      ((schema['maximum'] as number | undefined) ?? Infinity) > INT32_MAX ? 'int64' : 'int32';
  if (schema['enum'] !== undefined) delete schema['pattern'];
}

const INT32_MAX = 2_147_483_647;

/** An object with fields, or a choice of forms. */
function deservesName(node: JsonObject): boolean {
  return node['properties'] !== undefined || choices(node).length > 1;
}

/** The forms of a choice, without null. */
export function choices(node: JsonObject): readonly JsonObject[] {
  const all = (node['anyOf'] ?? node['oneOf'] ?? []) as readonly JsonObject[];
  return all.filter(({ type }) => type !== 'null');
}

/** A form that may be missing has the name of its place; one of several is named after its discriminating word. */
function variants(
  all: readonly JsonObject[],
  within: (child: JsonObject, suffix: string) => JsonObject,
): readonly JsonObject[] {
  const isChoice = all.filter(({ type }) => type !== 'null').length > 1;
  return all.map((one, i) => within(one, isChoice ? pascalCase(wordOf(one) ?? String(i + 1)) : ''));
}

function wordOf(variant: JsonObject): string | null {
  const fields = Object.values((variant['properties'] ?? {}) as Record<string, JsonObject>);
  const words = fields.flatMap(({ const: word }) => (typeof word === 'string' ? [word] : []));
  return words[0] ?? null;
}

/** Names the discriminator of the forms, where there is a field that each has with values of its own. */
function discriminated(node: JsonObject, schemaOf: (name: string) => JsonObject | undefined): JsonObject {
  const refs = choices(node).map(({ $ref }) => $ref as string | undefined);
  if (refs.length < 2 || refs.includes(undefined)) return node;
  const forms = refs.map((ref) => schemaOf(nameOf(ref ?? '')) ?? {});
  const [first = {}] = forms;
  for (const field of Object.keys((first['properties'] ?? {}) as JsonObject)) {
    const words = forms.map((form) => wordsOf(form, field, schemaOf));
    const flat = words.flat();
    if (words.some((list) => list.length === 0) || new Set(flat).size < flat.length) continue;
    const mapping = refs.flatMap((ref, i) => (words[i] ?? []).map((word) => [word, ref]));
    return {
      ...node,
      discriminator: { propertyName: field, mapping: Object.fromEntries(mapping) as JsonObject },
    };
  }
  return node;
}

function wordsOf(
  form: JsonObject,
  field: string,
  schemaOf: (name: string) => JsonObject | undefined,
): readonly string[] {
  const { properties = {} } = form as { readonly properties?: Record<string, JsonObject> };
  const { const: word, enum: words, $ref } = (properties[field] ?? {}) as Record<string, unknown>;
  if (typeof word === 'string') return [word];
  if (Array.isArray(words)) return words as string[];
  return typeof $ref === 'string' ? ((schemaOf(nameOf($ref))?.['enum'] ?? []) as string[]) : [];
}

function nameOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1);
}

function mapValues(object: JsonObject, change: (value: unknown, name: string) => JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));
}
