/**
 * The batch beside a worker that is killed again and again, on a server that is restarted: the requesting command
 * only waits, and the result is that of an undisturbed run. Every round has four kills and one
 * restart; PARLEY_TEST_ROUNDS=5 plays twenty and five.
 */
import { beforeAll, expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { seedsOf } from '../helpers/seeds.ts';
import { disturbedRun, type Disturbed } from './disturbed-worker.ts';
import { KEYS } from './results.ts';

const ROUNDS = Number(process.env['PARLEY_TEST_ROUNDS'] ?? '1');
const { seed: SEED } = seedsOf('killed-workers');
const ROUND_MS_MAX = 600_000;

describeWith('temporal', 'a batch whose worker is killed and whose server is restarted', () => {
  let undisturbed: Disturbed;
  const disturbed: Disturbed[] = [];
  beforeAll(
    async () => {
      undisturbed = await disturbedRun(null);
      for (let round = 0; round < ROUNDS; round += 1) disturbed.push(await disturbedRun(SEED + round));
    },
    ROUND_MS_MAX * (ROUNDS + 1),
  );

  it('ends well for the command that waited, and for the worker that is asked to end', () => {
    expect(disturbed.flatMap(({ told }) => told)).toHaveLength(5 * ROUNDS);
    for (const { run, worker, told } of [undisturbed, ...disturbed]) {
      expect(run.code, `${told}`).toBe(0);
      expect(run.stderr).toContain('another process owns the data directory and carries this out');
      expect(worker.code, worker.stderr).toBe(0);
      expect(worker.stderr).toContain('stopping: ');
    }
  });

  it('has the same outcomes and the same patches, byte for byte', () => {
    for (const { items, patches, told } of disturbed) {
      expect(
        items.map(({ key, outcome, execution_status }) => [key, outcome, execution_status]),
        `${told}`,
      ).toEqual(KEYS.map((key) => [key, 'succeeded', 'FINISHED']));
      expect(patches, `${told}`).toEqual(undisturbed.patches);
    }
  });

  it('runs no conversation to its end twice, and loses no event', () => {
    for (const { finishes, facts, told } of [undisturbed, ...disturbed]) {
      expect(finishes, `${told}`).toBe(KEYS.length);
      for (const { key, hasEverySequence, ids, agentIds, finishes: own } of facts) {
        expect({ key, hasEverySequence, own }, `${told}`).toEqual({ key, hasEverySequence: true, own: 1 });
        expect(agentIds.length).toBeGreaterThan(10);
        expect(ids, `${told}`).toEqual(agentIds);
      }
    }
  });

  it('reports what the gateway billed, and leaves no sandbox', () => {
    for (const { sums, billed, left, told } of [undisturbed, ...disturbed]) {
      expect(sums.total, `${told}`).toBe(billed);
      expect(sums.assigned + sums.ambiguous + sums.unassigned, `${told}`).toBe(billed);
      expect(left, `${told}`).toEqual({ processes: [], folders: [] });
    }
  });
});
