/** A workflow that is continued as new every few events takes the same steps as one that never is. */
import { expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { expectEqualOnTemporal } from './expect-equal-on-temporal.ts';
import { PATIENCE } from './played-on-temporal.ts';
import { SANDBOX_SCRIPTS } from './scripts-of-sandboxes.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';
import { installQuietRuntime } from '../../temporal/time-skipping/quiet-runtime.ts';

const EVENTS_MAX = 40;
/** One for each way of living long: pauses, the cap, deletion, sharing, queues, failures, batches. */
const NAMES = [
  'idle pause, then deletion time with its archive',
  'paused to make room',
  'no slot for a start, none for a resume',
  'a message resumes, with two more behind it',
  'the cap of a session strikes while the agent works',
  'stops and removals that are not confirmed',
  'a batch of three, two at once, checked',
  'a batch that tries again what failed',
  'the cap of a session strikes twice, the attempt goes on',
  'drained, then resumed',
] as const;

installQuietRuntime();

describeWith('temporal-test-server', `Temporal, continued as new every ${EVENTS_MAX} events`, () => {
  it.each(NAMES)('%s', PATIENCE, async (name) => {
    const script = [...SANDBOX_SCRIPTS, ...WORK_SCRIPTS].find((one) => one.name === name);
    if (script === undefined) throw new Error(`there is no script "${name}"`);
    const { runs, traces } = await expectEqualOnTemporal(script, { eventsMax: EVENTS_MAX });
    expect(runs).toBeGreaterThan(traces.byEntity.size);
  });
});
