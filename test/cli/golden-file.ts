/**
 * Comparing with a golden file below test/golden/cli; `UPDATE_GOLDEN=1` writes it anew.
 * Owns the comparison; golden files are never edited by hand.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { golden, GOLDEN_FOLDER } from './rows.ts';

/** Hashes follow every change of the plan's form, which these files are not about. */
function withoutHashes(text: string): string {
  return text.replaceAll(/\b[0-9a-f]{64}\b/g, '<sha256>').replaceAll(/plan [0-9a-f]{12}\b/g, 'plan <hash>');
}

export function expectGolden(name: string, output: string): void {
  const actual = withoutHashes(output);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    const file = path.join(GOLDEN_FOLDER, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, actual);
  }
  expect(actual).toBe(golden(name));
}
