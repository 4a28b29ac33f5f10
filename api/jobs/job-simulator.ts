/**
 * What the API needs of the simulator, which is not its own.
 * Owns the interface and the record of a play; must not hold an implementation.
 */
import { z } from 'zod';
import type { Deployment } from '../../ports/deployment.ts';
import { nanoUsd } from '../runs/run-record.ts';

/** The lifecycle policy of a deployment, and how often it asks. */
export type PlayedDeployment = Pick<Deployment, 'limits' | 'capacity' | 'onFull' | 'grouping' | 'pollMs'>;

/** A job as a text, and the deployment that it would run on. Plain data. */
export interface SimulatedJob {
  readonly text: string;
  readonly inputs: Readonly<Record<string, string>>;
  /** Names that the proxy lists. */
  readonly models: readonly string[];
  readonly deployment: PlayedDeployment;
  /** The same seed gives the same answer. */
  readonly seed: number;
}

const spreadSchema = z
  .object({ p50: z.int(), p95: z.int(), max: z.int() })
  .meta({ id: 'SimulatedSpread' })
  .nullable();

const atMs = z.int().meta({ description: 'Milliseconds since the beginning.' });

/** One play, as it is answered; `parley simulate` says the same of the same job, deployment and seed. */
export const simulationSchema = z
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

export type JobSimulation = z.output<typeof simulationSchema>;

/** Plays jobs that come over the API. */
export interface JobSimulator {
  /**
   * Plays the job on a virtual clock, elsewhere than on this event loop, for a bounded time; nothing is run.
   * Ends early when `signal` aborts.
   * @throws ParleyError plan_invalid when the text compiles to no plan, or to one that is too large; rate_limited when
   *   too many plays wait; out_of_resources when there is no memory for it
   */
  simulate(job: SimulatedJob, signal: AbortSignal): Promise<JobSimulation>;
  /** The page that `parley simulate --html` writes. @throws as above */
  page(job: SimulatedJob, signal: AbortSignal): Promise<string>;
}
