/** A batch in shards takes the same steps on Temporal, each shard a workflow of its own; also when their histories are short. */
import { it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { installQuietRuntime } from '../../testing/temporal/serve-engines.ts';
import { expectEqualOnTemporal } from './expect-equal-on-temporal.ts';
import { PATIENCE } from './played-on-temporal.ts';
import { inShards } from './scripts-of-shards.ts';
import { WORK_SCRIPTS } from './scripts-of-work.ts';

/** One for each thing that crosses the border between a run and its shards; the other drivers play all batches. */
const PLAYED = [
  'a batch that tries again what failed',
  'drained, then resumed',
  'a collection fails: its sandbox is kept',
];
/** In one shard: two would say in one instant that they are there, and on a server either may be first. */
const scripts = WORK_SCRIPTS.filter(({ name }) => PLAYED.includes(name)).map((one) =>
  inShards(one, (items) => items),
);
/** One more item: it has a shard of its own, or it is added to the one that is there. */
const amended = WORK_SCRIPTS.filter(({ name }) => name.includes('is amended')).flatMap((one) => [
  { script: inShards(one, (items) => items), how: 'by a shard' },
  { script: inShards(one, (items) => items + 1), how: 'by an item' },
]);

installQuietRuntime();

describeWith('temporal-test-server', 'simulator and Temporal, batches in shards', () => {
  it.each(scripts)('$name', PATIENCE, async (script) => {
    await expectEqualOnTemporal(script);
  });

  it.each(amended)('$script.name, grown $how', PATIENCE, async ({ script }) => {
    await expectEqualOnTemporal(script);
  });

  it.each(scripts.slice(0, 1))('$name, continued every 40 events', PATIENCE, async (script) => {
    await expectEqualOnTemporal(script, { eventsMax: 40 });
  });
});
