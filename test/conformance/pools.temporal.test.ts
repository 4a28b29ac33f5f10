/** Under time skipping a run with a pool, and its sandboxes, take the steps of simulator and embedded engine. */
import { expect, it } from 'vitest';
import { installQuietRuntime } from '../../testing/temporal/serve-engines.ts';
import { describeWith } from '../helpers/requires.ts';
import { expectEqualOnThree } from './expect-equal-on-temporal.ts';
import { PATIENCE, playedOnTemporal } from './played-on-temporal.ts';
import { POOL_SCRIPTS } from './scripts-of-pools.ts';

/**
 * Those in which there is one conversation at a time: which of two is placed first in one millisecond, and which of two
 * in one sandbox first reports its end to the run, a server does not define. What `core/` decides of the others is the
 * same code.
 */
const NAMES = ['a pool of one for one conversation, warmed', 'a pool of one, warmed, whose run is cancelled'];
const { played } = playedOnTemporal(POOL_SCRIPTS.filter(({ name }) => NAMES.includes(name)));

installQuietRuntime();

it('plays all of them', () => {
  expect(played).toHaveLength(NAMES.length);
});

describeWith('temporal-test-server', 'simulator, embedded engine and Temporal, scripts about pools', () => {
  it.each(played)('$name', PATIENCE, expectEqualOnThree);
});
