/**
 * What the commands need of the wired parts: a host that runs things, a reader beside it, and a word to whoever runs.
 * Owns the interface; `cli/host/host.ts` exports functions of these names. Must not hold code.
 */
import type { ConversationId, RunId, SandboxId } from '../core/ids.ts';
import type { Plan } from '../core/plan.ts';
import type { LifecycleEvent, ReconciliationSummary, RunItemRow, RunRow } from '../core/projection.ts';
import type { FailureClass } from '../core/status.ts';
import type { StoredEvent } from '../ports/record-store.ts';
import type { DeploymentConfig } from './config/deployment-config.ts';

/** What a user asks of a run that exists; `requestId` makes a repeat harmless. */
export type RunRequest =
  | { readonly type: 'cancelRequested' | 'drainRequested'; readonly requestId: string }
  | {
      readonly type: 'resumeRequested';
      readonly requestId: string;
      readonly classes: readonly FailureClass[];
    };

export interface HostPort {
  /**
   * Takes the data directory's lock, starts engine, proxy, webhook and Git relay, and goes on with every unfinished run.
   * @throws ParleyError data_directory_locked, config_invalid, runtime_failed, runtime_unreachable, store_unavailable
   */
  openHost(config: DeploymentConfig, options: { onNotice(text: string): void }): Promise<Host>;
  /** Read only, beside a running engine or without one. @throws ParleyError store_unavailable */
  openReader(config: DeploymentConfig): Promise<Reader>;
  /** Sends a request to the engine that owns the data directory. False when no engine is running. */
  control(
    config: DeploymentConfig,
    request: { readonly runId: string; readonly event: RunRequest },
  ): Promise<boolean>;
}

export interface EventPage {
  readonly afterSequence: number;
  /** 1..1000 */
  readonly limit: number;
}

export interface Reader {
  run(id: RunId): Promise<RunRow | null>;
  /** Newest first. */
  runs(): Promise<readonly RunRow[]>;
  /** In plan order. */
  runItems(id: RunId): Promise<readonly RunItemRow[]>;
  plan(id: RunId): Promise<Plan | null>;
  /** In sequence order. */
  events(conversationId: ConversationId, page: EventPage): Promise<readonly StoredEvent[]>;
  lifecycleEvents(
    conversationId: ConversationId,
  ): Promise<readonly (LifecycleEvent & { readonly at: number })[]>;
  /** Epoch milliseconds; null when nothing was heard. */
  lastActivityAt(sandboxId: SandboxId): Promise<number | null>;
  /** Absolute path of the folder that holds a run's results. */
  resultsLocation(id: RunId): string;
  close(): Promise<void>;
}

export interface Host extends Reader {
  /** What separates sandboxes here, in a word for people. */
  readonly isolation: string;
  readonly warnings: readonly string[];
  /** Idempotent for the same plan. @throws ParleyError run_exists when the run has another plan */
  startRun(runId: RunId, plan: Plan): Promise<void>;
  /** Accepted durably when it returns. @throws ParleyError not_found */
  tellRun(runId: RunId, event: RunRequest): Promise<void>;
  /**
   * Resolves when the run is finished, or rests (paused, drained) with nothing in flight. `onChange` fires after every
   * commit that touched it. Ends early when `signal` aborts.
   */
  waitForRun(
    runId: RunId,
    onChange: (row: RunRow, items: readonly RunItemRow[]) => void,
    signal: AbortSignal,
  ): Promise<RunRow>;
  /** `rowsFile` null asks where the plan says. @throws ParleyError export_invalid, export_unavailable, not_found */
  reconcile(runId: RunId, rowsFile: string | null): Promise<ReconciliationSummary>;
  /** Writes the reports anew; absolute paths of what was written. */
  report(runId: RunId): Promise<readonly string[]>;
  /** Collects what is missing, as far as stored events allow; absolute paths of what was written. */
  collect(runId: RunId): Promise<readonly string[]>;
  close(): Promise<void>;
}
