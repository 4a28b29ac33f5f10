/** Generated files on disk are what the code gives today: run `npm run gen` when one is not. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { GENERATED } from '../../scripts/generated.ts';

it.each(Object.entries(GENERATED))('%s is up to date', (file, text) => {
  expect(readFileSync(path.join(import.meta.dirname, '../..', file), 'utf8')).toBe(text());
});
