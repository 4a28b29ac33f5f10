/**
 * The form of `parley.yaml`: closed objects, one description per key.
 * Owns forms and bounds; defaults are in settings.ts. No key reaches the length of a session (D10).
 */
import { z } from 'zod';
import { GROUPING_STRATEGIES, type GroupingStrategy } from '../../core/status.ts';

/** A year of seconds: a longer limit is a missing unit. */
const LIMIT_SECONDS_MAX = 366 * 86_400;
/** More sandboxes than one machine or one list can hold. */
const SANDBOXES_MAX = 100_000;
const CONVERSATIONS_MAX = 1_000;
const ITERATIONS_MAX = 100_000;
const PORT_MAX = 65_535;
const TEXT_MAX = 1_024;

export const GROUPING_WORDS = GROUPING_STRATEGIES.map(
  (word) => word.toLowerCase() as Lowercase<GroupingStrategy>,
);

/** The one way to name a value that must not stand in a file (D20). */
export const ENVIRONMENT_REFERENCE = /^os\.environ\/([A-Za-z_][A-Za-z0-9_]*)$/;

const text = (description: string) => z.string().min(1).max(TEXT_MAX).meta({ description }).optional();
const oneOf = <const Words extends readonly [string, ...string[]]>(words: Words, description: string) =>
  z.enum(words).meta({ description }).optional();
const count = (min: number, max: number, description: string) =>
  z.number().int().min(min).max(max).meta({ description }).optional();
const secret = (description: string) =>
  z.string().regex(ENVIRONMENT_REFERENCE).meta({ description }).optional();

const codeHost = z.strictObject({
  url: z.string().min(1).max(TEXT_MAX).meta({
    description: 'Clone URL template with {owner}, {repo} or {name}; file: paths are relative to this file.',
  }),
  default: z.boolean().meta({ description: 'Meant when a job names no host.' }).optional(),
  token: secret('Credential for this host as os.environ/NAME.'),
});

const gatewayExport = z.strictObject({
  url: z.string().min(1).max(TEXT_MAX).meta({
    description: 'Address of the spend export, or os.environ/NAME; no export while that is unset.',
  }),
  key: secret('Key of the export as os.environ/NAME.'),
  format: oneOf(['jsonl', 'csv'], 'Form of the rows.'),
});

export const deploymentSchema = z.strictObject({
  engine: z.strictObject({ kind: oneOf(['embedded'], 'What drives the machines.') }).optional(),
  store: z
    .strictObject({ path: text('Data directory, relative to this file.') })
    .meta({ description: 'Where records, workspaces and sealed secrets live.' })
    .optional(),
  results: z
    .strictObject({ path: text('Folder of the results, relative to this file; one folder per run.') })
    .optional(),
  runtime: z
    .strictObject({
      kind: oneOf(['process'], 'Where sandboxes come from.'),
      isolation: oneOf(['auto', 'namespaces', 'none'], 'What separates a sandbox from the host.'),
    })
    .optional(),
  agent: z
    .strictObject({
      kind: oneOf(['reference'], 'Which Agent Server runs in a sandbox.'),
      iterations_max: count(1, ITERATIONS_MAX, 'Agent iterations when a job sets no limit.'),
    })
    .optional(),
  limits: z
    .strictObject({
      idle_time: count(
        0,
        LIMIT_SECONDS_MAX,
        'Seconds without activity until a sandbox is released; 0 never.',
      ),
      deletion_time: count(0, LIMIT_SECONDS_MAX, 'Seconds until a released sandbox is deleted; 0 never.'),
    })
    .meta({ description: 'Limits of every sandbox of the deployment (D10).' })
    .optional(),
  capacity: z
    .strictObject({
      sandboxes: count(1, SANDBOXES_MAX, 'Sandboxes with the runtime up, in all (D17).'),
      sandboxes_per_user: count(1, SANDBOXES_MAX, 'Sandboxes with the runtime up, per user (D17).'),
      conversations_per_sandbox: count(1, CONVERSATIONS_MAX, 'Conversations attached to one sandbox (D16).'),
      on_full: oneOf(['refuse', 'queue', 'pause_longest_idle'], 'What happens when no slot is free (D17).'),
    })
    .optional(),
  user: z
    .strictObject({
      grouping: z
        .enum(GROUPING_WORDS)
        .meta({ description: 'Placement of jobs that say nothing (D16).' })
        .optional(),
      git_author: z
        .strictObject({ name: text('Name in commits.'), email: text('Address in commits.') })
        .meta({ description: 'Author of commits, apart from any credential (D19).' })
        .optional(),
    })
    .optional(),
  code_hosts: z
    .record(z.string().regex(/^[a-z][a-z0-9_]{0,63}$/), codeHost)
    .meta({ description: 'Where repositories come from, by provider (D19).' })
    .optional(),
  proxy: z
    .strictObject({
      vendor: z
        .string()
        .regex(/^[a-z][a-z0-9]{0,31}$/)
        .meta({ description: 'Product word of the built-in proxy (D1).' })
        .optional(),
      port: count(0, PORT_MAX, 'TCP port of the proxy on loopback; 0 opens none.'),
    })
    .optional(),
  proxy_config: z
    .looseObject({})
    .meta({ description: 'Models and settings of the built-in proxy.' })
    .optional(),
  gateway: z
    .strictObject({ export: gatewayExport.optional() })
    .meta({ description: 'The external gateway behind the proxy.' })
    .optional(),
});

export type DeploymentDocument = z.infer<typeof deploymentSchema>;

/** The JSON Schema (draft-07) that editors use for completion. */
export function deploymentJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(deploymentSchema, { target: 'draft-7', io: 'input' });
}
