/**
 * What the API needs of the simulator, which is not its own.
 * Owns the interface; must not hold an implementation.
 */
import type { Deployment } from '../../ports/deployment.ts';

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

export interface Spread {
  readonly p50: number;
  readonly p95: number;
  readonly max: number;
}

/** Milliseconds since the beginning of the run, and what holds from there on. */
export interface SimulatedPoint {
  readonly atMs: number;
  readonly value: number;
}

/** How many conversations do what from then on. */
export interface SimulatedCounts {
  readonly atMs: number;
  readonly queued: number;
  readonly starting: number;
  readonly working: number;
  readonly paused: number;
  readonly ended: number;
}

/** One play; `parley simulate` says the same of the same job, deployment and seed. */
export interface JobSimulation {
  readonly planHash: string;
  readonly seed: number;
  readonly conversations: number;
  /** Keys of what stands for conversations that are known only once others have ended; the first of them. */
  readonly leftOut: readonly string[];
  readonly leftOutCount: number;
  readonly phase: string;
  readonly reason: string | null;
  /** Null while a conversation has not ended. */
  readonly makespanMs: number | null;
  readonly makespanBoundMs: number | null;
  /** Simulated time up to which it was played, when it was cut off there. */
  readonly cutAtMs: number | null;
  /** Where the picture of it ends. */
  readonly shownUntilMs: number;
  readonly queuedMs: Spread | null;
  readonly queuedTotalMs: number;
  readonly conversationMs: Spread | null;
  readonly costNanoUsd: number;
  /** By outcome; who has not ended is in none of them. */
  readonly ended: Readonly<Record<string, number>>;
  /** Conversations by the limit that they met. */
  readonly met: Readonly<Record<string, number>>;
  readonly sandboxesPeak: number;
  readonly sandboxesPeakAtMs: number;
  readonly sandboxesMax: number;
  readonly steps: number;
  readonly hash: string;
  /** Step functions, at most a thousand points each. */
  readonly activities: readonly SimulatedCounts[];
  readonly slots: readonly SimulatedPoint[];
}

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
