/** Temporal adds no rule, either: under time skipping every entity takes the steps of simulator and embedded engine. */
import { it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { expectEqualOnThree } from './expect-equal-on-temporal.ts';
import { SANDBOX_SCRIPTS } from './scripts-of-sandboxes.ts';
import { PATIENCE, playedOnTemporal } from './played-on-temporal.ts';
import { installQuietRuntime } from '../../testing/temporal/serve-engines.ts';

const { played } = playedOnTemporal(SANDBOX_SCRIPTS);

installQuietRuntime();

describeWith(
  'temporal-test-server',
  'simulator, embedded engine and Temporal, scripts about sandboxes',
  () => {
    it.each(played)('$name', PATIENCE, expectEqualOnThree);
  },
);
