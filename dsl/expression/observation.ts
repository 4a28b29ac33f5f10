/**
 * What the expectations of a scenario can ask about, at one instant of the virtual clock.
 * Owns names, types and meaning of the values; the simulator fills them in, the expression engine checks against them.
 */

/** Value types of the expression language: `double` amounts, `int` counts, `string`, `bool`, `duration`, lists. */
export interface ConversationSeen {
  /** Key of the item. */
  readonly key: string;
  /** Conversation of the present attempt; "" before the first. */
  readonly id: string;
  /** `queued`, `starting`, `working`, `verifying`, `collecting` or `ended`. */
  readonly phase: string;
  /** Status of its sandbox, as users see it; "" before it has one. */
  readonly status: string;
  /** Why the sandbox is paused: `idle`, `session_limit`, `user`, `capacity`, `confirmation`, `rate_limit`; else "". */
  readonly pause_reason: string;
  /** What the agent does, as last known; "" before it does anything. */
  readonly execution_status: string;
  /** How it ended; "" before. */
  readonly outcome: string;
  /** True once it has ended. */
  readonly terminal: boolean;
  /** True once its results are kept. */
  readonly collected: boolean;
  readonly attempts: bigint;
  /** Of all attempts, as collected so far. */
  readonly cost_usd: number;
  readonly repo: string;
  readonly model: string;
  readonly tags: Readonly<Record<string, string>>;
  /** Sandbox id; "" before it has one. */
  readonly sandbox: string;
}

/** A sandbox as an expectation sees it. */
export interface SandboxSeen {
  readonly id: string;
  readonly status: string;
  readonly pause_reason: string;
  /** `pausing`, `resuming`, `archiving`, `deleting`; else "". */
  readonly transition: string;
  readonly generation: bigint;
  readonly conversations: bigint;
  /** Name of the host on which it lives; "" while it has none, and where the policy has no hosts. */
  readonly host: string;
  /** Time since the session began, milliseconds; shown to expressions as a duration. 0 while no session runs. */
  readonly session_ms: number;
  /** Time since the release; 0 while it is not released. */
  readonly released_ms: number;
}

/** The whole world of a scenario at one instant, as an expectation sees it. */
export interface Observation {
  /** Time since the beginning, milliseconds; shown to expressions as the duration `elapsed`. */
  readonly elapsed_ms: number;
  readonly convs: readonly ConversationSeen[];
  readonly sandboxes: readonly SandboxSeen[];
  readonly capacity: { readonly in_use: bigint; readonly max: bigint; readonly peak: bigint };
  /** Sandboxes of the run's pool: those that are up, those with a conversation at work, and its size; 0 without a pool. */
  readonly pool: { readonly ready: bigint; readonly in_use: bigint; readonly size: bigint };
  readonly budget: { readonly spent_usd: number; readonly reserved_usd: number; readonly limit_usd: number };
  readonly run: {
    readonly phase: string;
    readonly mode: string;
    readonly reason: string;
    readonly waiting: bigint;
    readonly in_flight: bigint;
    readonly ended: bigint;
  };
  /** Counts since the beginning. */
  readonly summary: {
    /** Until the last conversation ended, or until now; milliseconds, shown as the duration `makespan`. */
    readonly makespan_ms: number;
    readonly cost_usd: number;
    readonly succeeded: bigint;
    readonly failed: bigint;
    readonly retried: bigint;
    /** Pauses of sandboxes by reason. */
    readonly paused_idle: bigint;
    readonly paused_session_limit: bigint;
    readonly paused_user: bigint;
    readonly paused_capacity: bigint;
    readonly resumed: bigint;
    readonly sandboxes: bigint;
    /** Conversations that were started over the API beside the run, and those of them that did not come up. */
    readonly arrived: bigint;
    readonly refused: bigint;
    readonly unmatched_usd: number;
  };
}
