/**
 * A note that the owner of a data directory leaves there for other processes of it.
 * Owns that it is written whole or not at all; whether its writer still lives is the lock's to say.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { z } from 'zod';

export interface NoteFile<Note> {
  write(file: string, note: Note): void;
  /** Null when there is none, or none that can be read. */
  read(file: string): Note | null;
  remove(file: string): void;
}

export function noteFile<Note>(schema: z.ZodType<Note>): NoteFile<Note> {
  return {
    write(file, note) {
      writeFileSync(`${file}.new`, JSON.stringify(note), { mode: 0o600 });
      renameSync(`${file}.new`, file);
    },
    read(file) {
      try {
        return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
      } catch {
        return null;
      }
    },
    remove: (file) => rmSync(file, { force: true }),
  };
}
