/**
 * What is written down about a sandbox before its container is made, so that a crash leaves nothing unknown.
 * Owns the shape of `spec.json`.
 */
import { z } from 'zod';
import { RECORD_FIELDS, recordFile } from '../on-host/record-file.ts';

const recordSchema = z.object({
  ...RECORD_FIELDS,
  /** The image, as the daemon names it. */
  image: z.string(),
});

export type SandboxRecord = Readonly<z.infer<typeof recordSchema>>;

export const { read: readRecord, write: writeRecord } = recordFile<SandboxRecord>(recordSchema);
