/**
 * How the process that owns a data directory stands to its configuration, for a desk in another process of it.
 * Owns what it says; how such a note is kept is note-file.ts.
 */
import { z } from 'zod';
import { noteFile } from '../note-file.ts';
import type { Standing } from './followed-configuration.ts';

const NOTE = noteFile<Standing>(
  z.object({
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
  }),
);

interface Place {
  readonly configurationNote: string;
}

export function writeConfigurationNote({ configurationNote }: Place, standing: Standing): void {
  NOTE.write(configurationNote, standing);
}

/** Null when nobody follows a file: there is none, or none that can be read. */
export function readConfigurationNote({ configurationNote }: Place): Standing | null {
  return NOTE.read(configurationNote);
}

export function removeConfigurationNote({ configurationNote }: Place): void {
  NOTE.remove(configurationNote);
}
