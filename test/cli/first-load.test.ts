/** What the program reads before it knows its command: a library that one rare line needs would be read by all. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const PROGRAM = path.resolve('dist/parley.js');
const IMPORT = /^(?:import |\} from )"(\.\/[^"]+)";$/gm;
/** The parser of commands, the catalogue of errors, and what is around them. */
const BYTES_MAX = 200_000;

function readFirst(file: string, found = new Map<string, string>()): ReadonlyMap<string, string> {
  if (found.has(file)) return found;
  const text = readFileSync(file, 'utf8');
  found.set(file, text);
  for (const [, name = ''] of text.matchAll(IMPORT)) readFirst(path.join(path.dirname(file), name), found);
  return found;
}

it('reads the parser of commands and little else', () => {
  const texts = [...readFirst(PROGRAM).values()];
  const packages = texts.flatMap((text) => [...text.matchAll(/^\/\/ node_modules\/([^/\n]+)\//gm)]);
  expect([...new Set(packages.map(([, name]) => name))]).toEqual(['commander']);
  expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThan(BYTES_MAX);
  // The walk has not ended at the first file.
  expect(texts.length).toBeGreaterThan(5);
});
