/**
 * The example of three hundred as it is shipped: more conversations than sandboxes, each with its first attempt; and on
 * a disk that fills up in the middle. `npm run bench -- three-hundred` plays all of it.
 */
import { expect, it } from 'vitest';
import { DATA_MIB, HARMS } from '../../bench/three-hundred/cases.ts';
import { Follower } from '../../bench/three-hundred/follower.ts';
import { Ground, type ParleyRecord } from '../../bench/three-hundred/ground.ts';
import { copyBatch } from '../e2e/batch-copy.ts';
import { runProgram } from '../e2e/running-program.ts';
import { recordsIn } from '../e2e/upgrade-batch.ts';
import { describeWith } from '../helpers/requires.ts';

const ITEMS = 24;
const SANDBOXES_MAX = 10;
const ALL_MS_MAX = 600_000;

const isEnded = ({ type, phase }: ParleyRecord): boolean => type === 'item' && phase === 'ended';

it(
  'more conversations than a user has sandboxes wait for one, and each succeeds with its first attempt',
  async () => {
    const copy = copyBatch('none', 'three-hundred');
    try {
      const main = 'examples/three-hundred/main.js';
      const end = await runProgram(copy, main, ['--json', '--limit', String(ITEMS)]);
      expect(end.code, end.stderr).toBe(0);
      const records = recordsIn(end.stdout);
      // An ended item is reported again when its sandbox goes.
      const ended = [...new Map(records.filter(isEnded).map((item) => [item['key'], item])).values()];
      expect(ended).toHaveLength(ITEMS);
      for (const item of ended) expect(item).toMatchObject({ outcome: 'succeeded', attempt: 1 });
      expect(new Set(ended.map(({ sandbox_id }) => sandbox_id)).size).toBe(ITEMS);
      const waits = records.filter(
        ({ type, phase, detail }) => type === 'item' && phase === 'waiting' && detail !== null,
      );
      for (const { detail } of waits) expect(detail).toMatch(/\(\d+ of 10 in use: /);
    } finally {
      copy.close();
    }
  },
  ALL_MS_MAX,
);

describeWith('mount', 'a disk that is full', () => {
  it(
    'is told while it is full, and everything goes on by itself when there is room again',
    async () => {
      const ground = new Ground('embedded', DATA_MIB);
      try {
        await ground.startGateway();
        const sandboxes = ground.countSandboxes();
        const harm = HARMS.disk;
        const follower = new Follower();
        const run = ground.start(['run', 'job.yaml', '--run-id', 'full', '--limit', '18'], follower.take);
        await follower.until(() => follower.ended.size >= 6);
        await harm.strike(ground);
        follower.struck(harm);
        await expect.poll(() => follower.toldAfterMs, { timeout: 60_000 }).not.toBeNull();
        await harm.undo(ground);
        const end = await run.ended;
        expect(end.code, end.stderr).toBe(0);
        expect(sandboxes.stop()).toBeLessThanOrEqual(SANDBOXES_MAX);
        const [row] = (await ground.ask(['status', 'full'])).filter(({ type }) => type === 'run');
        expect(row).toMatchObject({ ended: { succeeded: 18 } });
        expect(BigInt(Number(row?.['spent_nano_usd']))).toBe(ground.billed());
      } finally {
        await ground.close();
      }
    },
    ALL_MS_MAX,
  );
});
