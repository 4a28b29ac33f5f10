/**
 * One play of a job that came as a text, to be shown elsewhere than in a terminal.
 * Owns its bounds and what is reported of it; models, seed and time are those of `parley simulate`.
 */
import type { JobSimulation, SimulatedJob } from '../../api/jobs/job-simulator.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { isAwaiting, knownItems } from '../../core/plan/known-items.ts';
import type { Plan, PlanItem } from '../../core/plan/plan.ts';
import { START_AT_DEFAULT } from '../../dsl/scenario/start-at.ts';
import { createJobCompiler } from '../../host/serve/job-compiler.ts';
import { MODELS_DEFAULT, slotsMaxOf } from '../../simulator/models/model-options.ts';
import { simulateBounded, type BoundedAnswer } from '../../simulator/simulate-plan.ts';
import { planPage } from '../../simulator/views/plan-page.ts';
import { sumsRecord } from './answer-records.ts';
import { refuseBroken, UNTIL_DEFAULT_MS } from './play-request.ts';

/** A play of more takes minutes, and is for the command line. */
const ITEMS_MAX = 10_000;
/** In a larger play, checking whether every rule holds takes half of the time that it is given. */
const CHECKED_ITEMS_MAX = 1_000;
const LEFT_OUT_SHOWN_MAX = 20;

export interface PlayedJob extends Playable, BoundedAnswer {
  readonly job: SimulatedJob;
}

/** `mayGoOn` is called again and again. @throws ParleyError plan_invalid, internal when a rule did not hold */
export function playJob(job: SimulatedJob, mayGoOn: () => boolean): PlayedJob {
  const { text, inputs, models, deployment, seed } = job;
  const compiled = createJobCompiler({ models: () => models, deployment }).compile(text, inputs);
  if (compiled.plan === null)
    throw new ParleyError('plan_invalid', 'Cannot simulate: the job has errors, or inputs without a value');
  const { plan, leftOut } = playable(compiled.plan);
  const count = plan.items.length;
  if (count > ITEMS_MAX)
    throw new ParleyError(
      'plan_invalid',
      `Cannot simulate here: ${count} conversations, ${ITEMS_MAX} at most`,
      {
        details: { conversations: count, conversations_max: ITEMS_MAX },
        remedy: 'use "parley simulate"',
      },
    );
  const bounded = simulateBounded(
    {
      ...{ plan, policy: deployment, models: { ...MODELS_DEFAULT, pollMs: deployment.pollMs } },
      ...{ seed, untilMs: UNTIL_DEFAULT_MS, startAt: START_AT_DEFAULT, curves: true },
      checks: count <= CHECKED_ITEMS_MAX,
    },
    mayGoOn,
  );
  refuseBroken(bounded.answer);
  return { ...bounded, plan, leftOut, job };
}

export function pageOf({ plan, answer, job }: PlayedJob): string {
  return planPage({ name: plan.name, answer, startAt: START_AT_DEFAULT, seed: job.seed });
}

export function simulationOf({ plan, leftOut, answer, cutAtMs, job }: PlayedJob): JobSimulation {
  const { conversations, phase, reason, makespanMs, endedAt, curves } = answer;
  const since = (at: number): number => at - START_AT_DEFAULT;
  return {
    ...sumsRecord(answer, START_AT_DEFAULT),
    ...{ plan_hash: plan.hash, seed: job.seed, conversations: conversations.length },
    left_out: leftOut.slice(0, LEFT_OUT_SHOWN_MAX).map(({ key }) => key),
    left_out_count: leftOut.length,
    ...{ phase, reason, cut_at_ms: cutAtMs, shown_until_ms: makespanMs ?? since(endedAt) },
    ended: counts(conversations.flatMap(({ outcome }) => outcome ?? [])),
    met: counts(conversations.flatMap(({ met }) => met)),
    sandboxes_max: slotsMaxOf(job.deployment.capacity),
    activities: (curves?.activities ?? []).map(({ at, ...numbers }) => ({ at_ms: since(at), ...numbers })),
    slots: (curves?.slots ?? []).map(({ at, value }) => ({ at_ms: since(at), value })),
  };
}

function counts(words: readonly string[]): Record<string, number> {
  const found: Record<string, number> = {};
  for (const word of words) found[word] = (found[word] ?? 0) + 1;
  return found;
}

interface Playable {
  readonly plan: Plan;
  /** Each stands for conversations that are not known yet. */
  readonly leftOut: readonly PlanItem[];
}

export function playable(plan: Plan): Playable {
  const known = knownItems(plan);
  if (known === plan.items) return { plan, leftOut: [] };
  return {
    plan: { ...plan, items: known.map((item, index) => ({ ...item, index })) },
    leftOut: plan.items.filter(isAwaiting),
  };
}
