/**
 * The reference of the languages: every key with type, default, bounds, what it does, and an example.
 * Owns the layout; keys come from the schemas, defaults from the compiler, examples are handed in. Written by
 * `npm run gen`.
 */
import { jobSchema } from '../schema/json-schema.ts';
import { scenarioJsonSchema } from '../scenario/scenario-json-schema.ts';
import type { JsonSchema } from '../schema/shorthand.ts';
import { builtInDefaults } from './defaults.ts';
import { aboutOf, rowsBelow, typeOf, type KeyRow } from './schema-rows.ts';

/** A piece of a valid file in which a key is written; null when no file has it. */
type ExampleOf = (kind: 'job' | 'scenario', path: string) => string | null;

const HEAD = `# Reference

Every key of job and scenario files: its type with bounds, its default, and what it does.
This page is written by \`npm run gen\` from the schemas that the compiler checks with; examples are cut out of the files below \`examples/\`.
What the keys mean together stands in [job-language.md](job-language.md) and [scenario-language.md](scenario-language.md).

\`[]\` behind a key stands for a list, \`NAME\` for a name that you give.
A short form is listed beside the long one: \`text or map\` takes either.
In a job, \`\${{ inputs.NAME }}\` may stand for any value.
`;

const DISTRIBUTION = `## Distributions

Lengths of time and counts of tokens that vary are written as one value, or as a map with \`dist\`:

| form | meaning |
| --- | --- |
| \`20m\`, \`{fixed: 20m}\` | Always this. |
| \`{dist: uniform, min: 10m, max: 30m}\` | Anything between the two. |
| \`{dist: lognormal, p50: 20m, p95: 2h}\` | Half of them below the first, 95 of 100 below the second. |
| \`{dist: exponential, mean: 20m}\` | Without memory: 50 of 100 are below 0.69 of the mean, 95 of 100 below three times of it. |
`;

/** The reference of the language as Markdown, with an example for each key that has one. */
export function referencePage(exampleOf: ExampleOf): string {
  return [
    HEAD,
    ...section('Job', jobSchema(), { exampleOf, kind: 'job', defaults: builtInDefaults() }),
    ...section('Scenario', scenarioJsonSchema(), { exampleOf, kind: 'scenario', defaults: new Map() }),
    DISTRIBUTION,
  ].join('\n');
}

interface Context {
  readonly exampleOf: ExampleOf;
  readonly kind: 'job' | 'scenario';
  readonly defaults: ReadonlyMap<string, string>;
}

function section(title: string, schema: JsonSchema, context: Context): string[] {
  const properties = (schema['properties'] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = requiredOf(schema);
  return [
    `## ${title}\n`,
    ...Object.entries(properties).flatMap(([key, part]) =>
      keyLines(key, part, { ...context, isRequired: required.includes(key) }),
    ),
  ];
}

/** A job has them, or the file that it builds on. */
function requiredOf(schema: JsonSchema): readonly string[] {
  const either = (schema['anyOf'] ?? []) as readonly JsonSchema[];
  const forms = [schema, ...either].map((form) => (form['required'] ?? []) as readonly string[]);
  return forms.find((names) => names.includes('kind')) ?? [];
}

function keyLines(
  key: string,
  part: JsonSchema,
  { exampleOf, kind, defaults, isRequired }: Context & { readonly isRequired: boolean },
): string[] {
  const rows = rowsBelow(part, part['type'] === 'array' ? `${key}[]` : key);
  const standard = isRequired ? 'required' : (defaults.get(key) ?? 'none');
  const isOpen = rows.length === 0 || defaults.has(key) || isRequired;
  return [
    `### ${kind === 'job' ? '' : 'Scenario: '}\`${key}\`\n`,
    `${sentence(aboutOf(part))}\n`,
    `Type: ${typeOf(part)}.`,
    ...(isOpen ? [`Default: ${standard}.`] : []),
    '',
    ...table(rows, defaults),
    ...exampleLines(exampleOf(kind, key)),
  ];
}

function table(rows: readonly KeyRow[], defaults: ReadonlyMap<string, string>): string[] {
  if (rows.length === 0) return [];
  const lines = rows.map(({ path, type, isRequired, about }) => {
    const standard = isRequired ? 'required' : (defaults.get(path.replace(/\[\]$/, '')) ?? '');
    return `| \`${path}\` | ${cell(type)} | ${cell(standard)} | ${cell(sentence(about))} |`;
  });
  return ['| key | type | default | what it does |', '| --- | --- | --- | --- |', ...lines, ''];
}

function exampleLines(example: string | null): string[] {
  return example === null ? [] : ['```yaml', example, '```', ''];
}

function sentence(text: string): string {
  return text === '' || /[.!?]$/.test(text) ? text : `${text}.`;
}

/** A bar would end the cell. */
function cell(text: string): string {
  return text.replaceAll('|', '\\|');
}
