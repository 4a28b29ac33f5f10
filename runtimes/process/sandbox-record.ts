/**
 * What is written down about a sandbox before anything is started for it, so that a crash leaves nothing unknown.
 * Owns the shape of `spec.json`. Holds no secret: the session key goes through a pipe only.
 */
import { z } from 'zod';
import { readRecordFile, writeRecordFile } from '../on-host/record-file.ts';
import type { SandboxPaths } from './sandbox-paths.ts';

const recordSchema = z.object({
  version: z.literal(1),
  sandboxId: z.string(),
  generation: z.number().int().min(1),
  /** What was last ordered. `destroyed` stands until the files are gone: such a sandbox never starts again. */
  desired: z.enum(['up', 'stopped', 'destroyed']),
  isolation: z.enum(['namespaces', 'none']),
  /** Loopback ports that lead to the host; as seen from inside. */
  ports: z.object({ proxy: z.number().int(), webhook: z.number().int(), git: z.number().int() }),
  /** Its control groups; null where none could be made. */
  group: z
    .object({
      version: z.union([z.literal(1), z.literal(2)]),
      directories: z.partialRecord(z.enum(['memory', 'pids', 'cpu', 'freezer']), z.string()),
    })
    .nullable()
    .default(null),
  /** Epoch milliseconds of the launch. */
  launchedAt: z.number(),
});

export type SandboxRecord = Readonly<z.infer<typeof recordSchema>>;

/**
 * The record, or null when there is none.
 * @throws ParleyError runtime_unreachable: a record exists and cannot be read, so nothing is known
 */
export async function readRecord(paths: SandboxPaths): Promise<SandboxRecord | null> {
  return await readRecordFile(paths.record, (value) => recordSchema.parse(value));
}

/** Replaces the record in one step; it is on disk when this returns. The directory must exist. */
export async function writeRecord(paths: SandboxPaths, record: SandboxRecord): Promise<void> {
  await writeRecordFile(paths.record, record);
}
