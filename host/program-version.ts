/**
 * The version of this program, as the package beside its built programs says.
 * Owns where that is read; must not fail: a version is for people.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { programFolder } from './sandboxes/places.ts';

export function programVersion(): string {
  return versionIn(path.join(programFolder(), '../package.json'));
}

/** The field `version` of a package file; `unknown` when it cannot be read. */
export function versionIn(file: string): string {
  try {
    return z.object({ version: z.string() }).parse(JSON.parse(readFileSync(file, 'utf8'))).version;
  } catch {
    return 'unknown';
  }
}
