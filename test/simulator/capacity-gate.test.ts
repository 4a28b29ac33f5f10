/**
 * The gate against narrow worlds: whatever a job asks of however few slots, nothing that does not fail by itself fails,
 * no conversation waits beside a free slot, and the batch ends as soon as list scheduling would end it.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { GROUPING_STRATEGIES, type GroupingStrategy } from '../../core/status.ts';
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { fixed } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY } from '../../simulator/models/model-options.ts';
import type { Script } from '../../simulator/script.ts';
import { simulatePlan, type PlanAnswer, type PlanQuestion } from '../../simulator/simulate-plan.ts';
import { expectEqual } from '../conformance/expect-equal.ts';
import { POLICY } from '../conformance/script-parts.ts';
import { question } from './questions.ts';

const BOOT_MS = 4 * SECOND_MS;
const STOP_MS = 2 * SECOND_MS;
/** Calls between a slot that is free and a sandbox that boots. */
const CALLS_MS = 2 * SECOND_MS;

interface Narrow {
  readonly strategy: GroupingStrategy;
  readonly concurrency: number;
  readonly userMax: number;
  readonly perSandbox: number;
  /** Of each item, in minutes. */
  readonly works: readonly number[];
}

const NARROW: fc.Arbitrary<Narrow> = fc.record({
  strategy: fc.constantFrom(...GROUPING_STRATEGIES),
  concurrency: fc.integer({ min: 1, max: 40 }),
  userMax: fc.integer({ min: 1, max: 8 }),
  perSandbox: fc.integer({ min: 1, max: 5 }),
  works: fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 40 }),
});

function asked({ strategy, concurrency, userMax, perSandbox, works }: Narrow): PlanQuestion {
  const agentRules = works.map((minutes, index) => ({
    keys: `item-${index}`,
    behaviour: { ...MODELS_STEADY.agent, work: fixed(minutes * MINUTE_MS) },
  }));
  return {
    ...question(works.length, { admission: { concurrency }, placement: { strategy, sandboxId: null } }),
    models: { ...MODELS_STEADY, agentRules },
    policy: {
      ...POLICY,
      capacity: { installationMax: 100, userMax, conversationsPerSandboxMax: perSandbox },
    },
  };
}

/** The same as a script, which the embedded engine plays as well. */
function scripted({ plan, policy, models, seed, untilMs }: PlanQuestion): Script {
  return { name: 'narrow', policy, models, seed, untilMs, steps: [{ atMs: 0, action: { do: 'run', plan } }] };
}

/** What list scheduling on so many machines needs for what each item took once it had its place. */
function listSchedule(tasksMs: readonly number[], machines: number): number {
  const free = Array.from({ length: machines }, () => 0);
  for (const task of tasksMs) {
    const first = free.indexOf(Math.min(...free));
    free[first] = (free[first] ?? 0) + task;
  }
  return Math.max(...free);
}

/** From its place to its end, and until its sandbox has stopped. */
function heldMs({ stretches }: PlanAnswer['conversations'][number]): number {
  const placedAt = stretches.find(({ as }) => as === 'starting')?.from ?? 0;
  const waited = stretches.findLast(({ as }) => as === 'queued')?.from ?? 0;
  const from = stretches.find((one) => one.from > waited && one.as !== 'queued')?.from ?? placedAt;
  return (stretches.at(-1)?.from ?? 0) - from + STOP_MS + CALLS_MS;
}

describe('a batch in a narrow world', () => {
  it('succeeds with every item and its first attempt, in as much time as list scheduling needs', () => {
    fc.assert(
      fc.property(NARROW, (narrow) => {
        const answer = simulatePlan({ ...asked(narrow), checks: true });
        expect(answer).toMatchObject({ phase: 'finished', violations: [] });
        for (const one of answer.conversations)
          expect(one).toMatchObject({ outcome: 'succeeded', attempts: 1 });
        expect(answer.sandboxesPeak).toBeLessThanOrEqual(narrow.userMax);
        // Shared sandboxes are no slower than one for each; how much faster depends on which conversations share.
        const machines = Math.min(narrow.concurrency, narrow.userMax);
        const bound = listSchedule(answer.conversations.map(heldMs), machines) + BOOT_MS + MINUTE_MS;
        expect(answer.makespanMs ?? Infinity).toBeLessThanOrEqual(bound);
      }),
      { seed: 20240601, numRuns: 60 },
    );
  });

  it('takes the same steps on the embedded engine', { timeout: 120_000 }, async () => {
    await fc.assert(
      fc.asyncProperty(NARROW, async (narrow) => {
        await expectEqual(scripted(asked(narrow)));
      }),
      { seed: 20240602, numRuns: 12 },
    );
  });

  it('plays three hundred on defaults in the time of ten sandboxes', () => {
    const works = Array.from({ length: 300 }, () => 10);
    const defaults = {
      strategy: 'NO_GROUPING',
      concurrency: 10,
      userMax: 10,
      perSandbox: 20,
      works,
    } as const;
    const answer = simulatePlan(asked(defaults));
    expect(answer.conversations.every(({ outcome }) => outcome === 'succeeded')).toBe(true);
    expect(answer.sandboxesPeak).toBe(10);
    expect(answer.makespanMs).toBeLessThan(5.2 * HOUR_MS);
  });
});
