/**
 * How the process that owns a data directory stands to its configuration, for a desk in another process of it.
 * Owns the file that says so; whether its writer still lives is the lock's to say.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { z } from 'zod';
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

interface Place {
  readonly configurationNote: string;
}

/** Whole or not at all. */
export function writeConfigurationNote({ configurationNote }: Place, standing: Standing): void {
  writeFileSync(`${configurationNote}.new`, JSON.stringify(standing), { mode: 0o600 });
  renameSync(`${configurationNote}.new`, configurationNote);
}

/** Null when nobody follows a file: there is none, or none that can be read. */
export function readConfigurationNote({ configurationNote }: Place): Standing | null {
  try {
    return noteSchema.parse(JSON.parse(readFileSync(configurationNote, 'utf8')));
  } catch {
    return null;
  }
}

export function removeConfigurationNote({ configurationNote }: Place): void {
  rmSync(configurationNote, { force: true });
}
