/**
 * What is written down about a sandbox before anything is started for it, so that a crash leaves nothing unknown.
 * Owns `spec.json`: format, atomic writing, reading. Holds no secret: the session key goes through a pipe only.
 */
import { open, readFile, rename } from 'node:fs/promises';
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
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
export type RoutePorts = SandboxRecord['ports'];

/**
 * The record, or null when there is none.
 * @throws ParleyError runtime_unreachable: a record exists and cannot be read, so nothing is known
 */
export async function readRecord(paths: SandboxPaths): Promise<SandboxRecord | null> {
  try {
    return recordSchema.parse(JSON.parse(await readFile(paths.record, 'utf8')));
  } catch (error) {
    if (isMissing(error)) return null;
    throw new ParleyError('runtime_unreachable', `Cannot read sandbox record "${paths.record}": unreadable`, {
      cause: error,
    });
  }
}

/** Replaces the record in one step; it is on disk when this returns. The directory must exist. */
export async function writeRecord(paths: SandboxPaths, record: SandboxRecord): Promise<void> {
  const file = await open(`${paths.record}.new`, 'w', 0o600);
  try {
    await file.writeFile(`${JSON.stringify(record)}\n`);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(`${paths.record}.new`, paths.record);
}

/** True for the system's answer "there is no such file". */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');
}
