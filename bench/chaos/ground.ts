/**
 * Where chaos takes place: one folder with a runtime, a journal, and nothing else.
 * Owns its layout, the runtime that both the orchestrator and the judge open, and the form of the journal.
 */
import { mkdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { SandboxRuntime } from '../../ports/sandbox-runtime.ts';
import { runtimeIn } from '../sandbox-runtime.ts';
import { readRecordFile, writeRecordFile } from '../../runtimes/on-host/record-file.ts';

export type ChaosKind = 'process' | 'docker';

export interface Ground {
  readonly dir: string;
  readonly kind: ChaosKind;
  /** Socket of the daemon; empty for processes. */
  readonly daemonSocket: string;
}

const MEBIBYTE = 1024 ** 2;
/** Small, so that faults reach them soon. */
export const BOUNDS = {
  memoryBytes: 512 * MEBIBYTE,
  processes: 128,
  cpus: null,
  fileBytes: 256 * MEBIBYTE,
  workspaceBytes: 48 * MEBIBYTE,
};
const DISK_POLL_MS = 2_000;

const entrySchema = z.object({
  sandboxId: z.string(),
  generation: z.number().int(),
  sessionKey: z.string(),
  conversationId: z.string(),
  /** `starting` until a start of this generation has succeeded. */
  phase: z.enum(['starting', 'up', 'leaving']),
  /** Messages that were accepted; a message that is not here never was. */
  accepted: z.array(z.string()),
  delivered: z.number().int(),
});

export type Entry = z.infer<typeof entrySchema>;

export function openRuntime({ dir, daemonSocket }: Ground): SandboxRuntime {
  return runtimeIn(dir, { daemonSocket, limits: BOUNDS, diskLookMs: DISK_POLL_MS });
}

const journalOf = ({ dir }: Ground): string => join(dir, 'journal');

export async function readJournal(ground: Ground): Promise<Entry[]> {
  mkdirSync(journalOf(ground), { recursive: true });
  const names = (await readdir(journalOf(ground))).filter((name) => name.endsWith('.json')).sort();
  const entries = names.map((name) =>
    readRecordFile(join(journalOf(ground), name), (value) => entrySchema.parse(value)),
  );
  return (await Promise.all(entries)).flatMap((entry) => (entry === null ? [] : [entry]));
}

/** On disk when this returns. */
export async function writeEntry(ground: Ground, entry: Entry): Promise<void> {
  await writeRecordFile(join(journalOf(ground), `${entry.sandboxId}.json`), entry);
}
