/**
 * `--record` and `--replay`: from a run or a file to models that play it again.
 * Owns where a recording comes from and what is said about it; the fit is the simulator's business.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Plan } from '../../core/plan/plan.ts';
import { CliError } from '../../host/cli-error.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import type { ModelOptions } from '../../simulator/models/model-options.ts';
import {
  exactKeys,
  fitModels,
  isExact,
  notRecorded,
  recordedChecks,
} from '../../simulator/recording/fit-models.ts';
import {
  recordingOf,
  type RecordedConversation,
  type Recording,
} from '../../simulator/recording/recording.ts';
import { outcomesText } from '../../simulator/views/play-figures.ts';
import { spreadOf } from '../../simulator/views/spread.ts';
import { duration, usd } from '../../core/text/amounts.ts';
import { openRecords } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import type { PlayRequest } from './play-request.ts';
import { writeOutput } from './answer-files.ts';

export interface RecordRequest {
  readonly run: string;
  readonly config: string | undefined;
  /** Null keeps it in memory. */
  readonly out: string | null;
}

/** Reads the run's facts from the store, and writes the recording where the user wants it. */
export async function recordRun(shell: Shell, { run, config, out }: RecordRequest): Promise<Recording> {
  // The store is loaded only when it is needed.
  const { readRunFacts } = await import('./stored-run.ts');
  const recording = recordingOf(await readRunFacts(shell, { run, config }));
  if (out !== null) writeRecording(shell, out, recording);
  return recording;
}

/** A file when there is one of this name, or the name ends like one; else a run. */
export async function recordingFrom(
  shell: Shell,
  { source, config }: { readonly source: string; readonly config: string | undefined },
): Promise<Recording> {
  const isFile = source.endsWith('.json') || existsSync(path.resolve(shell.cwd, source));
  return isFile ? readRecording(shell, source) : recordRun(shell, { run: source, config, out: null });
}

/** What a play takes from a recording; says on standard error how much of the job is in it. */
export function replayOf(
  { stderr }: Shell,
  {
    recording,
    plan,
    base,
  }: { readonly recording: Recording; readonly plan: Plan; readonly base: ModelOptions },
): Pick<PlayRequest, 'models' | 'replaces'> {
  const exact = exactKeys(recording, plan).size;
  const rest = plan.items.length - exact;
  const fitted = rest === 0 ? '' : `, ${rest} from what the others took`;
  stderr.write(`replaying ${printable(recording.job)}: ${exact} as recorded${fitted}\n`);
  for (const sentence of notRecorded(recording)) stderr.write(`not recorded: ${sentence}\n`);
  return { models: fitModels(recording, base), replaces: recordedChecks(recording, plan) };
}

/** The recording in figures, for a call without a play. */
export function printRecording(shell: Shell, recording: Recording, json: boolean): void {
  if (json) printRecord(shell, recording);
  else shell.stdout.write(`${recordingText(recording).map(printable).join('\n')}\n`);
}

function recordingText(recording: Recording): string[] {
  const { job, conversations, bootsMs, stopsMs, starts } = recording;
  const exact = conversations.filter(isExact).length;
  const text = (values: readonly number[], form: (value: number) => string): string => {
    const spread = spreadOf(values);
    if (spread === null) return 'not stored';
    return `p50 ${form(spread.p50)}, p95 ${form(spread.p95)}, max ${form(spread.max)}`;
  };
  const tokens = (value: number): string => value.toLocaleString('en-US');
  return [
    `${job}: ${conversations.length} recorded, ${exact} of them exactly`,
    `boot: ${text(bootsMs, duration)}`,
    `stop: ${text(stopsMs, duration)}`,
    `starts: ${starts.asked}, of which ${starts.failed} failed`,
    `work: ${text(known(conversations, 'workMs'), duration)}`,
    `check and collection: ${text(known(conversations, 'afterMs'), duration)}`,
    `ended: ${outcomesText(conversations, 'not by themselves') || 'none'}`,
    `cost: ${text(known(conversations, 'costNanoUsd'), usd)}`,
    `input tokens: ${text(known(conversations, 'inputTokens'), tokens)}`,
    `output tokens: ${text(known(conversations, 'outputTokens'), tokens)}`,
    ...notRecorded(recording).map((sentence) => `not recorded: ${sentence}`),
  ];
}

type Amount = 'workMs' | 'afterMs' | 'costNanoUsd' | 'inputTokens' | 'outputTokens';

function known(conversations: readonly RecordedConversation[], field: Amount): number[] {
  return conversations.flatMap((one) => (one[field] === null ? [] : [one[field]]));
}

function printRecord({ stdout }: Shell, recording: Recording): void {
  const { job, planHash, conversations, bootsMs, stopsMs, starts } = recording;
  openRecords(stdout).write({
    type: 'recording',
    job,
    plan_hash: planHash,
    conversations: conversations.length,
    starts,
    boot_ms: spreadOf(bootsMs),
    stop_ms: spreadOf(stopsMs),
    work_ms: spreadOf(known(conversations, 'workMs')),
    after_ms: spreadOf(known(conversations, 'afterMs')),
    cost_nano_usd: spreadOf(known(conversations, 'costNanoUsd')),
    input_tokens: spreadOf(known(conversations, 'inputTokens')),
    output_tokens: spreadOf(known(conversations, 'outputTokens')),
    not_recorded: notRecorded(recording),
  });
}

/** A recording of the largest job has about 3 MB; more is no recording. */
const BYTES_MAX = 32 * 1024 * 1024;
const CONVERSATIONS_MAX = 10_000;

const amount = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const unknownOr = amount.nullable();

const recordingSchema = z.strictObject({
  kind: z.literal('recording'),
  format: z.literal(1),
  job: z.string().max(1_024),
  planHash: z.string().max(1_024),
  bootsMs: z.array(amount).max(CONVERSATIONS_MAX * 10),
  stopsMs: z
    .array(amount)
    .max(CONVERSATIONS_MAX * 10)
    .default([]),
  handoversMs: z
    .array(unknownOr)
    .max(CONVERSATIONS_MAX * 10)
    .default([]),
  starts: z.strictObject({ asked: amount, failed: amount }),
  conversations: z
    .array(
      z.strictObject({
        key: z.string().regex(/^[A-Za-z0-9._/-]{1,200}$/),
        attempts: amount,
        workMs: unknownOr,
        outcome: z.enum(['FINISHED', 'ERROR', 'STUCK']).nullable(),
        afterMs: unknownOr,
        checkPassed: z.boolean().nullable(),
        inputTokens: unknownOr,
        outputTokens: unknownOr,
        costNanoUsd: unknownOr,
        resumes: amount,
      }),
    )
    .max(CONVERSATIONS_MAX),
}) satisfies z.ZodType<Recording>;

/** @throws CliError when the file cannot be written */
function writeRecording(shell: Shell, file: string, recording: Recording): void {
  writeOutput(shell, { what: 'recording', file, text: `${JSON.stringify(recording, null, 2)}\n` });
}

/** @throws CliError when the file cannot be read or is no recording */
function readRecording({ cwd }: Shell, file: string): Recording {
  const parsed = recordingSchema.safeParse(parseJson(file, readText(path.resolve(cwd, file), file)));
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new CliError(
    `Cannot use the recording "${file}": ${issue?.path.join('.') || 'the file'}: ${issue?.message ?? 'it has another form'}`,
    { remedy: 'write one with: parley simulate --record RUN --out FILE' },
  );
}

function readText(absolute: string, file: string): string {
  try {
    const bytes = readFileSync(absolute);
    if (bytes.byteLength > BYTES_MAX) throw new Error('it is too large');
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw new CliError(`Cannot read the recording "${file}": ${reasonOf(error)}`);
  }
}

function parseJson(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new CliError(`Cannot use the recording "${file}": it is not JSON`);
  }
}
