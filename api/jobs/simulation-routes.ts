/**
 * A job played on a virtual clock: its timeline before a dollar is spent.
 * Owns the routes; nothing is run by them, and nothing is played on this event loop.
 */
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application } from '../application/application.ts';
import { leftSignal } from '../left-signal.ts';
import { route } from '../application/route.ts';
import { nanoUsd } from '../runs/run-record.ts';
import type { JobSimulation, JobSimulator, SimulatedJob } from './job-simulator.ts';
import { jobTextFields } from './job-compiler.ts';

const SEED_DEFAULT = 1;

const playedSchema = z.strictObject({
  ...jobTextFields,
  seed: z
    .int()
    .min(0)
    .max(999_999_999_999_999)
    .default(SEED_DEFAULT)
    .meta({ description: 'The same seed gives the same answer.' }),
});

const spreadSchema = z
  .object({ p50: z.int(), p95: z.int(), max: z.int() })
  .meta({ id: 'SimulatedSpread' })
  .nullable();

const atMs = z.int().meta({ description: 'Milliseconds since the beginning.' });

const simulationSchema = z
  .object({
    plan_hash: z.string(),
    seed: z.int(),
    conversations: z.int(),
    left_out: z.array(z.string()).meta({
      description: 'Keys of what stands for conversations that are known once others have ended; the first.',
    }),
    left_out_count: z.int(),
    phase: z.string(),
    reason: z.string().nullable(),
    makespan_ms: z.int().nullable().meta({ description: 'Null while a conversation has not ended.' }),
    makespan_bound_ms: z
      .int()
      .nullable()
      .meta({ description: 'What list scheduling takes at the least for the same work.' }),
    cut_at_ms: z
      .int()
      .nullable()
      .meta({ description: 'Simulated time up to which it was played, when it was cut off there.' }),
    shown_until_ms: atMs,
    queued_ms: spreadSchema,
    queued_total_ms: z.int(),
    conversation_ms: spreadSchema,
    cost_nano_usd: nanoUsd,
    ended: z.record(z.string(), z.int()).meta({ description: 'Conversations by outcome.' }),
    met: z.record(z.string(), z.int()).meta({ description: 'Conversations by the limit that they met.' }),
    sandboxes_peak: z.int(),
    sandboxes_peak_at_ms: atMs,
    sandboxes_max: z.int().meta({ description: 'Slots that a user may hold at once.' }),
    steps: z.int(),
    hash: z.string().meta({ description: 'Over every step.' }),
    activities: z
      .array(
        z.object({
          at_ms: atMs,
          ...{ queued: z.int(), starting: z.int(), working: z.int(), paused: z.int(), ended: z.int() },
        }),
      )
      .meta({ description: 'How many conversations do what, from each instant on; at most 1,000 points.' }),
    slots: z
      .array(z.object({ at_ms: atMs, value: z.int() }))
      .meta({ description: 'Sandboxes that hold a slot, from each instant on; at most 1,000 points.' }),
  })
  .meta({ id: 'JobSimulation' });

export const SIMULATION_ROUTES = [
  route({
    method: 'POST',
    url: '/api/v1/jobs/simulate',
    operation: 'simulate_job',
    summary: 'Plays the text of a job file on a virtual clock: who waits, starts, works and ends when.',
    access: 'key',
    body: playedSchema,
    result: simulationSchema,
    errors: ['not_found', 'plan_invalid', 'request_timeout', 'out_of_resources'],
    handler: async ({ application, body, reply }) => {
      const signal = leftSignal(reply.raw);
      return recordOf(await simulatorOf(application).simulate(played(application, body), signal));
    },
  }),
  route({
    method: 'POST',
    url: '/api/v1/jobs/simulate/page',
    operation: 'draw_job_simulation',
    summary: 'The same as a page: a bar for each conversation, curves, and who meets a limit.',
    access: 'key',
    body: playedSchema,
    result: 'text/html',
    errors: ['not_found', 'plan_invalid', 'request_timeout', 'out_of_resources'],
    handler: async ({ application, body, reply }) => {
      const signal = leftSignal(reply.raw);
      const page = await simulatorOf(application).page(played(application, body), signal);
      await reply
        .type('text/html; charset=utf-8')
        .header('content-disposition', 'attachment; filename="simulation.html"')
        .send(page);
      return null;
    },
  }),
] as const;

function simulatorOf({ simulator }: Application): JobSimulator {
  if (simulator !== null) return simulator;
  throw new ParleyError('not_found', 'Cannot simulate: this service plays no jobs', {
    remedy: 'use "parley simulate"',
  });
}

function played(
  { models, world: { deployment } }: Application,
  { text, inputs, seed }: z.output<typeof playedSchema>,
): SimulatedJob {
  const { limits, capacity, onFull, grouping, pollMs } = deployment;
  return { text, inputs, models, seed, deployment: { limits, capacity, onFull, grouping, pollMs } };
}

/** What is handed out belongs to who asked. */
function recordOf(of: JobSimulation): z.output<typeof simulationSchema> {
  return {
    ...{ plan_hash: of.planHash, seed: of.seed, conversations: of.conversations },
    ...{ left_out: [...of.leftOut], left_out_count: of.leftOutCount },
    ...{ phase: of.phase, reason: of.reason },
    ...{ makespan_ms: of.makespanMs, makespan_bound_ms: of.makespanBoundMs },
    ...{ cut_at_ms: of.cutAtMs, shown_until_ms: of.shownUntilMs },
    ...{ queued_ms: of.queuedMs, queued_total_ms: of.queuedTotalMs, conversation_ms: of.conversationMs },
    ...{ cost_nano_usd: of.costNanoUsd, ended: { ...of.ended }, met: { ...of.met } },
    ...{ sandboxes_peak: of.sandboxesPeak, sandboxes_peak_at_ms: of.sandboxesPeakAtMs },
    ...{ sandboxes_max: of.sandboxesMax, steps: of.steps, hash: of.hash },
    activities: of.activities.map(({ atMs: at, ...counts }) => ({ at_ms: at, ...counts })),
    slots: of.slots.map(({ atMs: at, value }) => ({ at_ms: at, value })),
  };
}
