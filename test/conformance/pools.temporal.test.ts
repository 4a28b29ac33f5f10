/** Under time skipping a run with a pool, and its sandboxes, take the steps of simulator and embedded engine. */
import { expect, it } from 'vitest';
import { installQuietRuntime } from '../../temporal/time-skipping/quiet-runtime.ts';
import { describeWith } from '../helpers/requires.ts';
import { expectEqualOnThree } from './expect-equal-on-temporal.ts';
import { PATIENCE, playedOnTemporal } from './played-on-temporal.ts';
import { POOL_SCRIPTS } from './scripts-of-pools.ts';

/** One of each kind: the others differ from them in what core/ decides, which is the same code. */
const NAMES = [
  'a pool that is warmed',
  'a pool that is recycled',
  'a pool that spills',
  'a pool whose run is cancelled',
];
const { played } = playedOnTemporal(POOL_SCRIPTS.filter(({ name }) => NAMES.includes(name)));

installQuietRuntime();

it('plays all of them', () => {
  expect(played).toHaveLength(NAMES.length);
});

describeWith('temporal-test-server', 'simulator, embedded engine and Temporal, scripts about pools', () => {
  it.each(played)('$name', PATIENCE, expectEqualOnThree);
});
