/** `kill -9` of `parley serve` beside commits of a call: what was accepted is done by the next one, once, on both engines. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { KILLED_CALLS, killOnce, Mortal } from './killed-calls.ts';
import { PLAIN } from './served.ts';

/** Every point of every call is the long form. */
const IS_LONG = process.env['PARLEY_SERVE_KILLS'] === 'all';
/** More commits than any call makes: a call that never settles is a failure of its own. */
const POINTS_MAX = 100;
/** Just after a commit, and just before one: the answer may be out in between. */
const EVERY_POINT = Array.from({ length: POINTS_MAX }, (_, index) => [index + 1, -(index + 1)]).flat();
const ALL_MS_MAX = 3_600_000;

async function killAt(name: string, config: string, points: readonly number[]): Promise<void> {
  const service = new Mortal(tempDir(), { config });
  await service.begin();
  let killed = 0;
  for (const point of IS_LONG ? EVERY_POINT : points) {
    const call = KILLED_CALLS[name];
    if (call === undefined || !(await killOnce(service, call, point))) break;
    killed += 1;
  }
  expect(killed).toBeGreaterThan(0);
  if (IS_LONG) process.stderr.write(`${name}: killed at ${killed} points\n`);
  await service.end();
}

const NAMES = Object.keys(KILLED_CALLS);

describe('on the embedded engine', () => {
  it.each(NAMES)('%s is done once', (name) => killAt(name, PLAIN, [4]), ALL_MS_MAX);
});

describeWith('temporal', 'on Temporal', () => {
  // What a dead worker held is tried again after some seconds: two calls in the short form.
  it.each(IS_LONG ? NAMES : ['start', 'message'])(
    '%s is done once',
    async (name) => {
      const server = await startServerForTests();
      onTestFinished(() => server.stop());
      await killAt(name, `${PLAIN}engine: { kind: temporal, address: "${server.address}" }\n`, [2]);
    },
    ALL_MS_MAX,
  );
});
