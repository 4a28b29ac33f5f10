/**
 * A note that the owner of a data directory leaves there for other processes of it.
 * Owns that it is written whole or not at all; whether its writer still lives is the lock's to say.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';

export interface NoteFile<Places, Note> {
  write(places: Places, note: Note): void;
  /** Null when there is none, or none that can be read. */
  read(places: Places): Note | null;
  remove(places: Places): void;
}

export function noteFile<Places, Note>(
  schema: z.ZodType<Note>,
  fileOf: (places: Places) => string,
): NoteFile<Places, Note> {
  return {
    write(places, note) {
      const file = fileOf(places);
      writeFileSync(`${file}.new`, JSON.stringify(note), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
    read(places) {
      try {
        return schema.parse(JSON.parse(readFileSync(fileOf(places), 'utf8')));
      } catch {
        return null;
      }
    },
    remove: (places) => rmSync(fileOf(places), { force: true }),
  };
}
