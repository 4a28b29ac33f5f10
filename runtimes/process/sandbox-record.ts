/**
 * What is written down about a sandbox before anything is started for it, so that a crash leaves nothing unknown.
 * Owns the shape of `spec.json`.
 */
import { z } from 'zod';
import { RECORD_FIELDS, recordFile } from '../on-host/record-file.ts';

const recordSchema = z.object({
  ...RECORD_FIELDS,
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
});

export type SandboxRecord = Readonly<z.infer<typeof recordSchema>>;

export const { read: readRecord, write: writeRecord } = recordFile<SandboxRecord>(recordSchema);
