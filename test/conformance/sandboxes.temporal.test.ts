/** Temporal adds no rule, either: under time skipping every entity takes the steps of simulator and embedded engine. */
import { it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { expectEqualOnThree } from './expect-equal-on-temporal.ts';
import { SANDBOX_SCRIPTS } from './scripts-of-sandboxes.ts';
import { installQuietRuntime } from './temporal/quiet-runtime.ts';

/** Real time of one script on a server of its own, on a machine that is busy with other tests. */
const WALL_MS = 120_000;

installQuietRuntime();

describeWith(
  'temporal-test-server',
  'simulator, embedded engine and Temporal, scripts about sandboxes',
  () => {
    it.each(SANDBOX_SCRIPTS)('$name', expectEqualOnThree, WALL_MS);
  },
);
