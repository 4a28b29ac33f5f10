/**
 * How the process that owns a data directory stands to its configuration, for a desk in another process of it.
 * Owns what it says; how such a note is kept is note-file.ts.
 */
import { z } from 'zod';
import { noteFile } from '../note-file.ts';
import type { Standing } from './followed-configuration.ts';

const noteSchema: z.ZodType<Standing> = z.object({
  file: z.string(),
  revision: z.string(),
  refused: z.array(
    z.object({
      severity: z.enum(['error', 'warning']),
      area: z.enum(['deployment', 'proxy']),
      file: z.string(),
      line: z.number().nullable(),
      column: z.number().nullable(),
      message: z.string(),
      remedy: z.string().nullable(),
    }),
  ),
  needsRestart: z.array(z.string()),
});

/** Read is null when nothing follows a file: there is none, or none that can be read. */
export const {
  write: writeConfigurationNote,
  read: readConfigurationNote,
  remove: removeConfigurationNote,
} = noteFile(noteSchema, (place: { readonly configurationNote: string }) => place.configurationNote);
