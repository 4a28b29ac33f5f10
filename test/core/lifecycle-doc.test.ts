/** docs/lifecycle.md says what the tables do. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { lifecyclePage } from '../../core/machine/lifecycle-doc.ts';

it('is the page that the tables make (UPDATE_GOLDEN=1 writes it)', () => {
  const file = path.resolve(import.meta.dirname, '../../docs/lifecycle.md');
  const page = lifecyclePage();
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(file, page);
  expect(readFileSync(file, 'utf8')).toBe(page);
});
