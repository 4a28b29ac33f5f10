/**
 * A workflow that is continued as new every few events takes the same steps as one that never is. A dozen scripts by
 * default; PARLEY_TEST_CONTINUED=all plays every one that is played on Temporal.
 */
import { expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { expectEqualOnTemporal } from './expect-equal-on-temporal.ts';
import { PATIENCE, playedOnTemporal } from './played-on-temporal.ts';
import { SANDBOX_SCRIPTS } from './scripts-of-sandboxes.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';
import { installQuietRuntime } from '../../testing/temporal/serve-engines.ts';

const EVENTS_MAX = 40;
/** One for each way of living long: pauses, the cap, deletion, sharing, queues, failures, batches. */
const NAMES: ReadonlySet<string> = new Set([
  'grouping add_to_any: four conversations one after the other',
  'idle pause, then deletion time with its archive',
  'paused to make room',
  'no slot for a start, none for a resume',
  'a message resumes, with two more behind it',
  'the cap of a session strikes while the agent works',
  'stops and removals that are not confirmed',
  'a resume fails twice, then for good',
  'a batch of three, two at once, checked',
  'a batch that tries again what failed',
  'the cap of a session strikes twice, the attempt goes on',
  'drained, then resumed',
]);

const { played } = playedOnTemporal([...SANDBOX_SCRIPTS, ...WORK_SCRIPTS]);
const dozen = played.filter(({ name }) => NAMES.has(name));
const others =
  process.env['PARLEY_TEST_CONTINUED'] === 'all' ? played.filter(({ name }) => !NAMES.has(name)) : [];

installQuietRuntime();

it('knows every script that it names', () => {
  expect(dozen.map(({ name }) => name).sort()).toEqual([...NAMES].sort());
});

describeWith('temporal-test-server', `Temporal, continued as new every ${EVENTS_MAX} events`, () => {
  it.each(dozen)('$name', PATIENCE, async (script) => {
    const { runs, traces } = await expectEqualOnTemporal(script, { eventsMax: EVENTS_MAX });
    expect(runs).toBeGreaterThan(traces.byEntity.size);
  });

  it.each(others)('$name, however short', PATIENCE, async (script) => {
    await expectEqualOnTemporal(script, { eventsMax: EVENTS_MAX });
  });
});
