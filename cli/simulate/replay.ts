/**
 * `--record` and `--replay`: from a run or a file to models that play it again.
 * Owns where a recording comes from and what is said about it; the fit is the simulator's business.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Plan } from '../../core/plan/plan.ts';
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
import { readRecording, writeRecording } from './recording-file.ts';

export interface RecordRequest {
  readonly run: string;
  readonly config: string | undefined;
  /** Null keeps it in memory. */
  readonly out: string | null;
}

/** Reads the run's facts from the store, and writes the recording where it was asked for. */
export async function recordRun(shell: Shell, { run, config, out }: RecordRequest): Promise<Recording> {
  // The store is loaded by whoever needs it.
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

/** The recording in figures, for whoever asks for no play. */
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
