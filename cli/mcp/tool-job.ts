/**
 * The job that a caller names or sends, compiled to its plan.
 * Owns that it reaches nothing outside the folder of jobs, and takes no secret of this machine unless its file lies there.
 */
import path from 'node:path';
import { z } from 'zod';
import type { Plan } from '../../core/plan/plan.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { CliError } from '../../host/cli-error.ts';
import { secretsHere } from '../../host/secret-source.ts';
import { isWithin } from '../../host/job/job-file.ts';
import type { AskedIssues } from '../../dsl/world.ts';
import { loadPlan } from '../job/load-plan.ts';
import { subsetOf } from '../job/plan-subset.ts';
import { refuseAwaiting } from '../job/staged-rows.ts';
import type { McpDesk } from './mcp-tool.ts';

/** A job that is longer is generated, and belongs into a file with its rows. */
const JOB_CHARS_MAX = 1_000_000;
const INPUTS_MAX = 200;
/** As many as a plan holds. */
const COUNT_MAX = 10_000;

export const jobIn = {
  file: z
    .string()
    .min(1)
    .max(4_096)
    .nullish()
    .describe('Job file below the folder that this server was started with, or a plan as ".json".'),
  job: z
    .string()
    .min(1)
    .max(JOB_CHARS_MAX)
    .nullish()
    .describe('Text of a job as YAML, in place of "file"; it may name no secrets of the machine.'),
  inputs: z
    .record(z.string().min(1).max(200), z.union([z.string(), z.number(), z.boolean()]))
    .refine((inputs) => Object.keys(inputs).length <= INPUTS_MAX, `At most ${INPUTS_MAX} inputs`)
    .nullish()
    .describe('Values for the inputs of the job.'),
  only: z
    .string()
    .min(1)
    .max(200)
    .nullish()
    .describe('Only conversations whose key matches, such as "tidy/*".'),
  limit: z.int().min(1).max(COUNT_MAX).nullish().describe('Only the first conversations of the plan.'),
  concurrency: z
    .int()
    .min(1)
    .max(COUNT_MAX)
    .nullish()
    .describe('Conversations at once, instead of what the job says.'),
};
export type JobAsked = {
  readonly [Name in keyof typeof jobIn]?: z.output<(typeof jobIn)[Name]> | undefined;
};

export interface CompiledJob {
  readonly plan: Plan;
  /** How it is called in messages. */
  readonly name: string;
  /** Warnings as text; empty for none. */
  readonly warnings: string;
}

/** Where an inline job would lie. */
const INLINE = 'job.yaml';

/** @throws CliError when the job has errors, which are in its text; ParleyError plan_invalid */
export async function compileAsked(
  desk: McpDesk,
  asked: JobAsked,
  checksSecrets: boolean,
): Promise<CompiledJob> {
  const { root, shell, config } = desk;
  const given = placeOf(desk, asked);
  const said: string[] = [];
  const collecting = { ...shell, cwd: root, stderr: { write: (text: string) => said.push(text) } };
  const inputs = Object.entries(asked.inputs ?? {}).map(([name, value]) => `${name}=${value}`);
  const compiled = await loadPlan(collecting, {
    ...given,
    ...{ within: root, config: configOf(desk, config), checksSecrets },
    inputs: inputs.length === 0 ? {} : { input: inputs },
    ...(given.text === undefined ? {} : { checkAsked: refuseToken }),
  });
  const messages = said.join('').trimEnd();
  if (compiled === null)
    throw new CliError(`Cannot use the job "${given.file}": it has errors\n${messages}`, {
      remedy: 'correct them; "parley explain CODE" tells more of a code',
    });
  const { only = null, limit = null, concurrency = null } = asked;
  const plan = subsetOf(compiled, { only, limit, concurrency, canary: null });
  if (given.text !== undefined) refuseSecrets(plan);
  return { plan, name: given.file, warnings: messages };
}

/** As the process sees it, whatever the folder of jobs is. */
function configOf({ shell }: McpDesk, config: string | undefined): string | undefined {
  return config === undefined ? undefined : path.resolve(shell.cwd, config);
}

function placeOf(
  { root }: McpDesk,
  { file, job }: JobAsked,
): { readonly file: string; readonly text?: string } {
  const text = job ?? null;
  const named = file ?? null;
  if ((text === null) === (named === null))
    throw new CliError('Cannot tell which job is meant: give "file" or "job", and not both');
  if (text !== null) return { file: INLINE, text };
  const absolute = path.resolve(root, named ?? '');
  if (isWithin(absolute, root)) return { file: path.relative(root, absolute) };
  throw new CliError(
    `Cannot read job file "${named ?? ''}": there is none of this name below the folder of jobs`,
    {
      remedy: 'name a file below the folder that the server was started with, or hand the text over as "job"',
    },
  );
}

/** A caller that sends a job as text has no right to what lies on this machine. */
function refuseSecrets({ secrets }: Plan): void {
  const here = Object.entries(secrets).find(([, { from }]) => from !== 'store');
  if (here !== undefined) throw refusedSecret(here[0]);
}

/** The same before a code host is queried with it, which is while the plan is made. */
function refuseToken({ token }: AskedIssues): void {
  if (token === null || token.from === 'store') return;
  throw refusedSecret(token.from === 'file' ? token.path : token.name);
}

function refusedSecret(name: string): ParleyError {
  return new ParleyError(
    'forbidden',
    `Cannot take the secret "${name}": a job that is handed over as text names it`,
    {
      remedy: 'let the operator put the job into a file below the folder of jobs, and name it as "file"',
    },
  );
}

/** Values of its secrets, for the deployment. @throws CliError for a job that waits for its own rows */
export async function secretsOf(
  { shell }: McpDesk,
  { plan }: CompiledJob,
): Promise<Readonly<Record<string, string>>> {
  refuseAwaiting(plan, 'hand the run to a service', 'run it with "parley run", without --server');
  return await secretsHere(plan, shell.env);
}
