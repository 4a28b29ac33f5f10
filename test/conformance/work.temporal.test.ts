/** Temporal adds no rule, either: under time skipping every entity takes the steps of simulator and embedded engine. */
import { it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { expectEqualOnThree } from './expect-equal-on-temporal.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';
import { PATIENCE, playedOnTemporal } from './played-on-temporal.ts';
import { installQuietRuntime } from '../../testing/temporal/serve-engines.ts';

const { played } = playedOnTemporal(WORK_SCRIPTS);

installQuietRuntime();

describeWith('temporal-test-server', 'simulator, embedded engine and Temporal, scripts about work', () => {
  it.each(played)('$name', PATIENCE, expectEqualOnThree);
});
