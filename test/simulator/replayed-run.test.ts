/**
 * A run that is recorded from the rows it leaves, and played again: nine of ten seeds take as long as it did, within 5 %.
 * What was recorded was itself played, by models that the fit does not know; a batch that really ran is in test/e2e/.
 */
import { describe, expect, it } from 'vitest';
import type {
  ConversationRow,
  ProjectionRow,
  RunItemRow,
  SandboxRow,
} from '../../core/machine/projection.ts';
import { SECOND_MS } from '../../core/time.ts';
import { lognormal, uniform } from '../../simulator/models/distribution.ts';
import { MODELS_STEADY, type ModelOptions } from '../../simulator/models/model-options.ts';
import { fitModels, recordedChecks } from '../../simulator/recording/fit-models.ts';
import { recordingOf, type Recording } from '../../simulator/recording/recording.ts';
import { simulatePlan, type PlanAnswer, type PlanQuestion } from '../../simulator/simulate-plan.ts';
import type { SimulationStep } from '../../simulator/simulation-options.ts';
import { item } from '../conformance/script-parts.ts';
import { question } from './questions.ts';

/** The last conversation of a slot is a tenth of a run of sixty: by chance alone one play in twenty is further off. */
const ITEMS = 150;
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** Short work on a small machine, where boots and stops count: as the example of three hundred, half of it. */
const MODELS: ModelOptions = {
  ...MODELS_STEADY,
  runtime: {
    ...MODELS_STEADY.runtime,
    boot: lognormal(3 * SECOND_MS, 6 * SECOND_MS),
    stop: uniform(300, 1_500),
  },
  agentCall: uniform(20, 80),
  verify: uniform(200, 900),
  collect: lognormal(400, 1_500),
  agent: { ...MODELS_STEADY.agent, work: lognormal(8 * SECOND_MS, 25 * SECOND_MS) },
};

/** Ten in flight on ten sandboxes, each of them checked. */
function asked(models: ModelOptions, seed: number): PlanQuestion {
  const verify = { command: 'true', timeoutMs: 60 * SECOND_MS };
  const items = Array.from({ length: ITEMS }, (_, at) => item(at, { verify }));
  const placement = { strategy: 'NO_GROUPING', sandboxId: null } as const;
  return { ...question(ITEMS, { items, admission: { concurrency: 10 }, placement }), models, seed };
}

/** What a store would have of it: the newest rows, and when agents were first heard and spoken to. */
class Kept {
  readonly conversations = new Map<string, ConversationRow>();
  readonly sandboxes = new Map<string, SandboxRow>();
  readonly items = new Map<string, RunItemRow>();
  private readonly firstEventAt = new Map<string, number>();
  private readonly firstMessageAt = new Map<string, number>();

  add({ address, at, event, commands }: SimulationStep): void {
    const keep = (kept: Map<string, number>): void => void kept.set(address.id, kept.get(address.id) ?? at);
    if (event.type === 'agentOpened') keep(this.firstEventAt);
    if (event.type === 'itemDelivered') keep(this.firstMessageAt);
    for (const row of commands.flatMap((one): readonly ProjectionRow[] =>
      one.type === 'project' ? one.rows : [],
    )) {
      if (row.table === 'conversation') this.conversations.set(row.conversationId, row);
      if (row.table === 'sandbox') this.sandboxes.set(row.sandboxId, row);
      if (row.table === 'run_item') this.items.set(row.key, row);
    }
  }

  recording(): Recording {
    const attempts = [...this.conversations.values()].map((row) => {
      const box = row.sandboxId === null ? undefined : this.sandboxes.get(row.sandboxId);
      return {
        key: row.key ?? '',
        createdAt: row.createdAt,
        startFailed: row.startTask === 'ERROR',
        executionStatus: row.executionStatus,
        restedAt: row.executionStatusAt,
        firstEventAt: this.firstEventAt.get(row.conversationId) ?? null,
        firstMessageAt: this.firstMessageAt.get(row.conversationId) ?? null,
        sandbox:
          box === undefined
            ? null
            : {
                id: box.sandboxId,
                createdAt: box.createdAt,
                generation: box.generation,
                stopMs: box.stopMs ?? null,
                stoppedAt: box.stoppedAt ?? null,
              },
        spend: null,
      };
    });
    const items = [...this.items.values()].map(
      ({ key, attempt, outcome, costNanoUsd, admittedAt, endedAt }) => ({
        key,
        attempts: attempt,
        hasCheck: true,
        outcome,
        costNanoUsd,
        admittedAt,
        endedAt,
      }),
    );
    return recordingOf({ job: 'small', planHash: 'h', items, attempts });
  }
}

function recorded(seed: number): { readonly answer: PlanAnswer; readonly recording: Recording } {
  const kept = new Kept();
  const answer = simulatePlan({ ...asked(MODELS, seed), onStep: (step) => kept.add(step) });
  return { answer, recording: kept.recording() };
}

describe('a small run, recorded and played again', () => {
  it.each([11, 12, 13])('run %i: nine of ten seeds take as long, within a twentieth', (run) => {
    const { answer, recording } = recorded(run);
    expect(recording.conversations).toHaveLength(ITEMS);
    expect(recording.stopsMs.length).toBeGreaterThan(ITEMS / 2);
    const took = answer.makespanMs ?? 0;
    expect(took).toBeGreaterThan(60 * SECOND_MS);
    const shares = SEEDS.map((seed) => {
      const again = asked(fitModels(recording, MODELS_STEADY), seed);
      const played = simulatePlan({ ...again, replaces: recordedChecks(recording, again.plan) });
      expect(played.costNanoUsd).toBe(answer.costNanoUsd);
      return (played.makespanMs ?? 0) / took;
    });
    const near = shares.filter((share) => Math.abs(share - 1) <= 0.05);
    expect([near.length >= 9, shares]).toEqual([true, shares]);
  });
});
