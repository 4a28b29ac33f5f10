/**
 * What is written down about a sandbox before its container is made, so that a crash leaves nothing unknown.
 * Owns the shape of `spec.json`. Holds no secret: the session key goes through a pipe only.
 */
import { z } from 'zod';
import { readRecordFile, writeRecordFile } from '../on-host/record-file.ts';
import type { SandboxPlace } from '../on-host/sandbox-place.ts';

const recordSchema = z.object({
  version: z.literal(1),
  sandboxId: z.string(),
  generation: z.number().int().min(1),
  /** What was last ordered. `destroyed` stands until the files are gone: such a sandbox never starts again. */
  desired: z.enum(['up', 'stopped', 'destroyed']),
  /** The image, as the daemon names it. */
  image: z.string(),
  /** Epoch milliseconds of the launch. */
  launchedAt: z.number(),
});

export type SandboxRecord = Readonly<z.infer<typeof recordSchema>>;

/** @throws ParleyError runtime_unreachable: a record exists and cannot be read, so nothing is known */
export async function readRecord(place: SandboxPlace): Promise<SandboxRecord | null> {
  return await readRecordFile(place.record, (value) => recordSchema.parse(value));
}

export async function writeRecord(place: SandboxPlace, record: SandboxRecord): Promise<void> {
  await writeRecordFile(place.record, record);
}
