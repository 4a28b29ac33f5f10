/**
 * A recording on disk: written as JSON, read back and checked.
 * Owns the form of the file; what its values mean is the simulator's business.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import type { Recording } from '../../simulator/recording/recording.ts';
import { CliError } from '../../host/cli-error.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import type { Shell } from '../../host/shell.ts';
import { writeOutput } from './write-output.ts';

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
export function writeRecording(shell: Shell, file: string, recording: Recording): void {
  writeOutput(shell, { what: 'recording', file, text: `${JSON.stringify(recording, null, 2)}\n` });
}

/** @throws CliError when the file cannot be read or is no recording */
export function readRecording({ cwd }: Shell, file: string): Recording {
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
