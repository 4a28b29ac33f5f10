/**
 * Where the engine on Temporal that owns a data directory can be found by the other processes of that directory.
 * Owns the file that says so; whether its writer still lives is the lock's to say.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
import type { Places } from './places.ts';

const noteSchema = z.object({
  /** `HOST:PORT`; null while a server of its own is being started. */
  address: z.string().nullable(),
  namespace: z.string(),
  queue: z.string(),
  /** A server that the owner started for itself, and the mark of that process; null when it has none. */
  server: z.object({ pid: z.number(), mark: z.string() }).nullable(),
});

export type EngineNote = z.infer<typeof noteSchema>;

type Place = Pick<Places, 'engineNote'>;

/** Whole or not at all. */
export function writeEngineNote({ engineNote }: Place, note: EngineNote): void {
  writeFileSync(`${engineNote}.new`, JSON.stringify(note), { mode: 0o600 });
  renameSync(`${engineNote}.new`, engineNote);
}

/** Null when there is none, or none that can be read. */
export function readEngineNote({ engineNote }: Place): EngineNote | null {
  try {
    return noteSchema.parse(JSON.parse(readFileSync(engineNote, 'utf8')));
  } catch {
    return null;
  }
}

export function removeEngineNote({ engineNote }: Place): void {
  rmSync(engineNote, { force: true });
}
