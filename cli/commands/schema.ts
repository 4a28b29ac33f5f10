/**
 * `parley schema`: the JSON Schema of a job, a scenario or a deployment, or what is said about one key.
 * Owns the choice; the schemas are generated from those that check the files.
 */
import { Argument, Command } from 'commander';
import { scenarioJsonSchema } from '../../dsl/scenario/scenario-json-schema.ts';
import { editorSchema } from '../../dsl/reference/editor-schema.ts';
import { nearestName } from '../../dsl/check/nearest-name.ts';
import { CliError } from '../../host/cli-error.ts';
import { examples, type CommandContext } from '../command-context.ts';
import { deploymentJsonSchema } from '../../host/config/schema/deployment-json-schema.ts';
import { EXIT } from '../../host/exit-code.ts';
import { outline, schemaKeys, schemaPart } from '../print/schema-outline.ts';

interface SchemaOptions {
  readonly json?: true;
}

const SCHEMAS = {
  job: editorSchema,
  scenario: scenarioJsonSchema,
  deployment: deploymentJsonSchema,
} as const;
type DocumentKind = keyof typeof SCHEMAS;

export function schemaCommand({ shell, finish }: CommandContext): Command {
  return new Command('schema')
    .description('Print the JSON Schema of job files, scenario files or parley.yaml, or explain one key.')
    .addArgument(new Argument('[document]', 'which file').choices(Object.keys(SCHEMAS)).default('job'))
    .argument('[key]', 'dotted path of a key, such as conversations.verify')
    .option('--json', 'print the JSON Schema of the key')
    .addHelpText('after', '\nExit codes: 0 printed, 2 there is no such key.')
    .addHelpText(
      'after',
      examples(
        'parley schema > job.schema.json',
        'parley schema job retry.backoff',
        'parley schema scenario expect',
        'parley schema deployment limits',
      ),
    )
    .action((document: DocumentKind, key: string | undefined, options: SchemaOptions) => {
      shell.stdout.write(`${schemaText(document, key ?? null, options)}\n`);
      finish(EXIT.ok);
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
  const near = nearestName(wrong, keys);
  return new CliError(`Cannot explain "${key}": a ${document} has no such key`, {
    remedy: near === null ? `keys here: ${keys.join(', ')}` : `did you mean "${near}"?`,
  });
}
