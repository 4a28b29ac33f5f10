/**
 * Where the engine on Temporal that owns a data directory can be found by the other processes of that directory.
 * Owns what it says; how such a note is kept is note-file.ts.
 */
import { z } from 'zod';
import { noteFile } from '../note-file.ts';
import type { Places } from '../sandboxes/places.ts';

const noteSchema = z.object({
  /** `HOST:PORT`; null while a server of its own is being started. */
  address: z.string().nullable(),
  namespace: z.string(),
  queue: z.string(),
  /** A server that the owner started for itself, and the mark of that process; null when it has none. */
  server: z.object({ pid: z.number(), mark: z.string() }).nullable(),
});

export type EngineNote = z.infer<typeof noteSchema>;

/** Read is null when there is none, or none that can be read. */
export const {
  write: writeEngineNote,
  read: readEngineNote,
  remove: removeEngineNote,
} = noteFile(noteSchema, ({ engineNote }: Pick<Places, 'engineNote'>) => engineNote);
