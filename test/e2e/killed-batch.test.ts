/**
 * The batch whose process dies at any moment: its result is that of an undisturbed run.
 * The gateway lives on, as a vendor would; agents in their sandboxes do as well, until the next process finds them.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { seedsOf } from '../helpers/seeds.ts';
import type { Isolation } from './batch-copy.ts';
import { killPlan, KILLS } from './kill-plan.ts';
import { killedRun, told, type KilledRun } from './killed-run.ts';
import { KEYS } from './results.ts';

/** Half of the runs at once: most of a run is waiting for a model. */
const AT_ONCE = 3;
const { seed: SEED } = seedsOf('killed-batch');
const ALL_MS_MAX = 300_000 * Math.ceil(KILLS / 20);

/** `undisturbed` is the first; a failure of one run is reported when all have ended. */
async function runAll(isolation: Isolation, seed: number): Promise<readonly KilledRun[]> {
  const plans = [[], ...killPlan(seed)];
  const runs: KilledRun[] = [];
  const worker = async (): Promise<void> => {
    for (let at = next(); at < plans.length; at = next()) {
      runs[at] = await killedRun(isolation, plans[at] ?? []);
    }
  };
  let taken = 0;
  const next = (): number => (taken += 1) - 1;
  const ends = await Promise.allSettled(Array.from({ length: AT_ONCE }, worker));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return runs;
}

function killedBatch(isolation: Isolation, seed: number): void {
  let undisturbed: KilledRun;
  let killed: readonly KilledRun[];
  beforeAll(async () => {
    const [first, ...rest] = await runAll(isolation, seed);
    if (first === undefined) throw new Error('nothing ran');
    undisturbed = first;
    killed = rest;
  }, ALL_MS_MAX);

  it(`is killed ${KILLS} times, from before the run is accepted to its report`, () => {
    const kills = killed.flatMap((run) => run.kills);
    expect(kills).toHaveLength(KILLS);
    expect(new Set(kills.map(({ command }) => command))).toEqual(new Set(['run', 'resume']));
  });

  it('has the same outcomes and the same patches, byte for byte', () => {
    for (const run of killed) {
      expect(
        run.items.map(({ key, outcome, execution_status }) => [key, outcome, execution_status]),
        told(run.kills),
      ).toEqual(KEYS.map((key) => [key, 'succeeded', 'FINISHED']));
      expect(run.patches, told(run.kills)).toEqual(undisturbed.patches);
    }
  });

  it('runs no conversation to its end twice', () => {
    for (const run of killed) {
      expect(run.finishes, told(run.kills)).toBe(KEYS.length);
      expect(
        run.facts.map(({ finishes }) => finishes),
        told(run.kills),
      ).toEqual(KEYS.map(() => 1));
    }
  });

  it('loses no event: every sequence, and every id that the agents wrote down', () => {
    for (const run of [undisturbed, ...killed]) {
      for (const { key, hasEverySequence, ids, agentIds } of run.facts) {
        const about = `${key} ${told(run.kills)}`;
        expect(hasEverySequence, about).toBe(true);
        expect(agentIds.length, about).toBeGreaterThan(10);
        expect(ids, about).toEqual(agentIds);
      }
    }
  });

  it('leaves no sandbox: no process and no directory', () => {
    for (const run of killed) {
      expect(run.leftProcesses, told(run.kills)).toEqual([]);
      expect(run.leftSandboxes, told(run.kills)).toEqual([]);
    }
  });

  it('reports what the gateway billed, to the nano-dollar', () => {
    for (const { sums, billed, kills } of killed) {
      expect(sums.total, told(kills)).toBe(billed);
      expect(sums.assigned + sums.ambiguous + sums.unassigned, told(kills)).toBe(billed);
      expect(billed, told(kills)).toBeGreaterThanOrEqual(undisturbed.billed);
    }
  });
}

describeWith('bwrap', 'a killed batch in namespaces', () => killedBatch('namespaces', SEED));
describe('a killed batch in plain processes', () => killedBatch('none', SEED + 1));
