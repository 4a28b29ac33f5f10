/**
 * `npm run gen`: writes the files that are generated from code.
 * Owns the writing; the list is in generated.ts, and a test compares it with what is on disk.
 */
import { writeFileSync } from 'node:fs';
import { GENERATED } from './generated.ts';

for (const [file, text] of Object.entries(GENERATED)) {
  writeFileSync(file, text());
  process.stderr.write(`gen: ${file}\n`);
}
