/**
 * Stacks of a crash report: places in built files become places in their sources, whatever else stays.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mappedStack } from '../../cli/crash-report.ts';

const SOURCE = `interface Left {
  readonly out: string;
}

export function fail(left: Left): never {
  throw new Error(left.out);
}
`;

let folder: string;
let built: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'parley-stack-'));
  writeFileSync(path.join(folder, 'thrower.ts'), SOURCE);
  built = path.join(folder, 'built.js');
  // As scripts/build.js does it: the map's paths are relative to a folder below its own.
  const aside = {
    absWorkingDir: folder,
    sourceRoot: 'aside/',
    sourcemap: true,
    bundle: true,
    format: 'esm',
  } as const;
  await build({ ...aside, entryPoints: ['thrower.ts'], outfile: 'aside/built.js' });
  for (const end of ['js', 'js.map'])
    writeFileSync(
      path.join(folder, `built.${end}`),
      readFileSync(path.join(folder, 'aside', `built.${end}`)),
    );
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Line and column, from 1, of a text in the built file. */
function placeOf(text: string): string {
  const lines = readFileSync(built, 'utf8').split('\n');
  const line = lines.findIndex((each) => each.includes(text));
  return `${line + 1}:${(lines[line] as string).indexOf(text) + 1}`;
}

test('a place in a built file is told as a place in its source', () => {
  const place = `${pathToFileURL(built).href}:${placeOf('throw new')}`;
  const stack = `Error: out\n    at fail (${place})\n    at async ${place}\n    at node:internal/main:1:2`;
  const source = `${path.join(folder, 'thrower.ts')}:6:3`;
  expect(mappedStack(stack)).toBe(
    `Error: out\n    at fail (${source})\n    at async ${source}\n    at node:internal/main:1:2`,
  );
});

test.each([
  ['a file without a map', 'Error: x\n    at file:///nowhere/at-all.js:1:2'],
  ['no place at all', 'Error: x'],
])('%s is left as it is', (_name, stack) => {
  expect(mappedStack(stack)).toBe(stack);
});

test('a map that is not JSON is left alone', () => {
  const file = path.join(folder, 'odd.js');
  writeFileSync(`${file}.map`, '{');
  const stack = `Error: x\n    at ${pathToFileURL(file).href}:1:1`;
  expect(mappedStack(stack)).toBe(stack);
});
