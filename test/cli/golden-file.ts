/**
 * Comparing with a golden file below test/golden/cli; `UPDATE_GOLDEN=1` writes it anew.
 * Owns the comparison; golden files are never edited by hand.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { golden, GOLDEN_FOLDER } from './rows.ts';

export function expectGolden(name: string, actual: string): void {
  if (process.env['UPDATE_GOLDEN'] === '1') {
    const file = path.join(GOLDEN_FOLDER, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, actual);
  }
  expect(actual).toBe(golden(name));
}
