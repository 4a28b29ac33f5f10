/**
 * A job played on a virtual clock: its timeline before a dollar is spent.
 * Owns the routes; nothing is run by them, and nothing is played on this event loop.
 */
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import type { Application } from '../application/application.ts';
import { leftSignal } from '../left-signal.ts';
import { route } from '../application/route.ts';
import { simulationSchema, type JobSimulator, type SimulatedJob } from './job-simulator.ts';
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
      return simulatorOf(application).simulate(played(application, body), signal);
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
