/**
 * `parley schema`: the JSON Schema of a job, a scenario or a deployment, or what is said about one key.
 * Owns the choice; the schemas are generated from those that check the files.
 */
import { Argument } from 'commander';
import { scenarioJsonSchema } from '../../dsl/scenario/scenario-json-schema.ts';
import { editorSchema } from '../../dsl/reference/editor-schema.ts';
import { didYouMean } from '../../dsl/check/nearest-name.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { deploymentJsonSchema } from '../../host/config/schema/deployment-json-schema.ts';

interface SchemaOptions {
  readonly json?: true;
}

const SCHEMAS = {
  job: editorSchema,
  scenario: scenarioJsonSchema,
  deployment: deploymentJsonSchema,
} as const;
type DocumentKind = keyof typeof SCHEMAS;

export function command({ shell }: CommandContext): CliCommand {
  return new CliCommand('schema')
    .description('Print the JSON Schema of job files, scenario files or parley.yaml, or explain one key.')
    .addArgument(new Argument('[document]', 'which file').choices(Object.keys(SCHEMAS)).default('job'))
    .argument('[key]', 'dotted path of a key, such as conversations.verify')
    .option('--json', 'print the JSON Schema of the key')
    .says('Exit codes: 0 printed, 2 there is no such key.')
    .examples(
      'parley schema > job.schema.json',
      'parley schema job retry.backoff',
      'parley schema scenario expect',
      'parley schema deployment limits',
    )
    .action((document: DocumentKind, key: string | undefined, options: SchemaOptions) => {
      shell.stdout.write(`${schemaText(document, key ?? null, options)}\n`);
    });
}

function schemaText(document: DocumentKind, key: string | null, options: SchemaOptions): string {
  const schema = SCHEMAS[document]();
  if (key === null) return JSON.stringify(schema, null, 2);
  const path = key.replaceAll(/\[\d*\]/g, '').split('.');
  const part = schemaPart(schema, path);
  if (part === null) throw unknownKey(schema, { document, key, path });
  return options.json === true ? JSON.stringify(part, null, 2) : outline(key, part).join('\n');
}

function unknownKey(
  schema: Readonly<Record<string, unknown>>,
  {
    document,
    key,
    path,
  }: { readonly document: string; readonly key: string; readonly path: readonly string[] },
): CliError {
  const known = path
    .map((_, length) => schemaPart(schema, path.slice(0, length)))
    .findLast((part) => part !== null);
  const keys = schemaKeys(known ?? schema);
  const wrong = path.find((_, at) => schemaPart(schema, path.slice(0, at + 1)) === null) ?? key;
  return new CliError(`Cannot explain "${key}": a ${document} has no such key`, {
    remedy: didYouMean(wrong, keys, `keys here: ${keys.join(', ')}`),
  });
}

/**
 * One place of a JSON Schema, for people: what it is, what it takes, which keys it has.
 * Owns the walk along a dotted path; must not know which schema it is.
 */

type Json = Readonly<Record<string, unknown>>;

/** The part of the schema at a path such as `conversations.verify`; lists and names of the user are stepped into. Null when there is none. */
function schemaPart(schema: Json, path: readonly string[]): Json | null {
  let part: Json | null = schema;
  for (const key of path) part = part === null ? null : step(part, key);
  return part;
}

/** Names that the next step of a path can have. */
function schemaKeys(schema: Json): readonly string[] {
  return forms(schema).flatMap((form) => Object.keys(object(form['properties']) ?? {}));
}

function outline(name: string, part: Json): string[] {
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
