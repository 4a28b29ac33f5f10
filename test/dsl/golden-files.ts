/**
 * Reads golden files for other tests.
 * Owns paths only.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { GOLDEN_FOLDER } from './test-world.ts';

export function goldenText(file: string): string {
  return readFileSync(path.join(GOLDEN_FOLDER, file), 'utf8');
}

/** Names of the valid jobs, as `ok/name.yaml`. */
export function validJobs(): string[] {
  return readdirSync(path.join(GOLDEN_FOLDER, 'ok'))
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => `ok/${file}`);
}
