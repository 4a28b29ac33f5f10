/** docs/simulation.md lists the invariants that are checked, and no others. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { LIVENESS, safetyCheckers } from '../../simulator/checkers/list.ts';

it('lists every invariant', () => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../../docs/simulation.md'), 'utf8');
  const listed = [...page.matchAll(/^\| ([A-Z]\d+) \|/gm)].map((match) => match[1]);
  const checked = [...safetyCheckers(), ...LIVENESS].map(({ name }) => name);
  expect(listed.sort()).toEqual(checked.sort());
});
