/** Temporal adds no rule, either: under time skipping every entity takes the steps of simulator and embedded engine. */
import { expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { expectEqualOnThree } from './expect-equal-on-temporal.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';
import { installQuietRuntime } from './temporal/quiet-runtime.ts';

/** Real time of one script on a server of its own, on a machine that is busy with other tests. */
const WALL_MS = 120_000;

/**
 * In these the simulator lets two things happen in one millisecond, and what comes out rests on it. On Temporal each has a
 * millisecond of its own; a script beside each of them is about the same without the coincidence.
 */
const COINCIDENCES: ReadonlySet<string> = new Set([
  // Two sandboxes are created at once, and the older one is chosen.
  'a batch in one shared sandbox, reconciled, conversations removed',
  // Two refused starts are due again at once, in one deadline of the run.
  'no slot for half of a batch',
]);
const SCRIPTS = WORK_SCRIPTS.filter(({ name }) => !COINCIDENCES.has(name));

installQuietRuntime();

it('leaves out nothing but coincidences', () => {
  expect(WORK_SCRIPTS.length - SCRIPTS.length).toBe(COINCIDENCES.size);
});

describeWith('temporal-test-server', 'simulator, embedded engine and Temporal, scripts about work', () => {
  it.each(SCRIPTS)('$name', expectEqualOnThree, WALL_MS);
});
