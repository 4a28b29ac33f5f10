/**
 * What the commands need of the wired parts: a host that runs things, a reader beside it, requests to a running host.
 * Owns the interface; `host/host.ts` exports functions of these names. Must not hold code.
 */
import type { DrawnForm } from '../activities/report-run.ts';
import type { Reported } from '../activities/report-run.ts';
import type { JobSimulator } from '../api/jobs/job-simulator.ts';
import type { ReconcileAnswer, ReconcileRequest } from '../activities/reconcile-run.ts';
import type { ConversationId, RunId, SandboxId } from '../core/ids.ts';
import type { Plan } from '../core/plan/plan.ts';
import type { LifecycleEvent, RunItemRow, RunRow } from '../core/machine/projection.ts';
import type { RunEvent } from '../core/run/message.ts';
import type { StoredEvent } from '../ports/record-store.ts';
import type { LocalResults } from '../ports/results.ts';
import type { DeploymentConfig } from './config/deployment-config.ts';
import type { Finding } from './finding.ts';
import type { ResourceClass } from '../core/machine/resource.ts';

/** What a user requests of a run that exists; `requestId` makes a repeat harmless. */
export type RunRequest = Extract<RunEvent, { readonly requestId: string }>;

/** The application API, for a host that serves it. */
export interface ApplicationOptions {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly dialect: 'spec' | 'openhands';
  readonly corsOrigins: readonly string[];
  /** Where clients reach it, when that is not where it listens; null otherwise. */
  readonly publicUrl: string | null;
  readonly version: string;
  /** True: where no client could call, serving begins with the first key instead of ending. */
  readonly awaitsKey?: boolean;
  onAccess(line: object): void;
}

/** What is printed of a served API when it begins. */
export interface ApplicationFacts {
  readonly url: string;
  /** The key that was made because there was none and only this machine can call; null otherwise. */
  readonly firstKey: string | null;
}

export interface HostOptions {
  /** Absent: no API is served. */
  readonly application?: ApplicationOptions;
  /** Plays jobs for the API; absent: nothing is played. */
  readonly simulator?: JobSimulator;
  onNotice(text: string): void;
  /** True for a worker: it owns the data directory or ends, and never starts a Temporal server of its own. */
  readonly isWorker?: boolean;
  /** True for a service that leaves the data directory to workers, also while there is none: it only sends requests. */
  readonly onlyAsks?: boolean;
}

/** What a person reads of the engine. */
export type EngineFacts =
  | { readonly kind: 'embedded' }
  | {
      readonly kind: 'temporal';
      readonly address: string;
      readonly namespace: string;
      /** Prefix of the task queues. */
      readonly queue: string;
      /** Null in a process that only sends requests: it carries nothing out. */
      readonly worker: WorkerFacts | null;
    };

export interface WorkerFacts {
  readonly queues: readonly string[];
  readonly slots: Readonly<Record<ResourceClass, number>>;
  /** Names the build of the workers, by version and workflows unless the deployment names it. */
  readonly buildId: string;
  /** Whose build it is; null when workers have no versions. */
  readonly deployment: string | null;
  /** Page of metrics; null when none is shown. */
  readonly metricsUrl: string | null;
}

/** How a command comes to a host. */
export interface HostPort {
  /**
   * Takes the data directory's lock, starts engine, proxy, webhook and Git relay, and goes on with every unfinished run.
   * When a living process owns the directory, the host only sends it requests, and takes its place should it end while
   * a run is waited for; on Temporal the server keeps them. A worker and a service own their directory, or end.
   * @throws ParleyError data_directory_locked, config_invalid, runtime_failed, runtime_unreachable, store_unavailable,
   *   engine_unreachable, engine_misconfigured, codec_key_missing
   */
  openHost(config: DeploymentConfig, options: HostOptions): Promise<Host>;
  /**
   * For reports and collecting: a host, or less where less is enough, which then owns and starts nothing.
   * @throws as `openHost`
   */
  openDesk(config: DeploymentConfig, options: HostOptions): Promise<RunDesk>;
  /**
   * Read only, beside a running engine or without one. Null when nothing was ever stored.
   * @throws ParleyError store_unavailable
   */
  openReader(config: DeploymentConfig): Promise<Reader | null>;
  /** Sends a request to the engine that owns the data directory. False when no engine is running. */
  control(config: DeploymentConfig, request: ControlRequest): Promise<boolean>;
  /**
   * Checks what a run of the plan needs: gateways and models, repositories, secrets, folders, ports; all findings at
   * once. Starts nothing and takes no lock; bounded in time, and what it cannot read in that time is a warning.
   */
  preflight(config: DeploymentConfig, plan: Plan): Promise<readonly Finding[]>;
  /**
   * Without an owner of the data directory: a run on Temporal is reached through the server that the deployment names.
   * Null when there is no such server to call, or the run is not on Temporal.
   * @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden, codec_key_missing
   */
  controlByServer(config: DeploymentConfig, request: ControlRequest): Promise<ServerAnswer | null>;
}

export interface ControlRequest {
  readonly runId: RunId;
  readonly event: RunRequest;
}

/** `taken`: a worker has it. `kept`: the server keeps it until a worker polls. */
export type ServerAnswer = 'taken' | 'kept';

export interface EventPage {
  readonly afterSequence: number;
  /** 1..1000 */
  readonly limit: number;
}

/** What can be read of runs without being the host. */
export interface Reader {
  run(id: RunId): Promise<RunRow | null>;
  /** Newest first. */
  runs(): Promise<readonly RunRow[]>;
  /** In plan order. */
  runItems(id: RunId): Promise<readonly RunItemRow[]>;
  /** As it was amended last. */
  plan(id: RunId): Promise<Plan | null>;
  /** In sequence order. */
  events(conversationId: ConversationId, page: EventPage): Promise<readonly StoredEvent[]>;
  /** Why it is in its sandbox, as one sentence; null before it was placed. */
  placement(conversationId: ConversationId): Promise<string | null>;
  lifecycleEvents(
    conversationId: ConversationId,
  ): Promise<readonly (LifecycleEvent & { readonly at: number })[]>;
  /** What happened to the run as a whole, amendments first of all; in the order in which it was recorded. */
  runEvents(id: RunId): Promise<readonly (LifecycleEvent & { readonly at: number })[]>;
  /** Epoch milliseconds; null when no activity was reported. */
  lastActivityAt(sandboxId: SandboxId): Promise<number | null>;
  /** What runs have made, wherever it lives. */
  readonly results: LocalResults;
  /**
   * A report of the run as text, as it stands now; written nowhere. Absent: a service elsewhere, which has its reports.
   * @throws ParleyError not_found, plan_invalid, config_invalid where the seal key is missing
   */
  draw?(id: RunId, form: DrawnForm): Promise<string>;
  close(): Promise<void>;
}

/** Writes what needs neither an engine nor a sandbox. */
export type RunDesk = Reader & Pick<Host, 'report' | 'collect'>;

/** A process that serves runs: this one, or the one that owns the data directory. */
export interface Host extends Reader {
  /** Null when no API is served. */
  readonly application: ApplicationFacts | null;
  readonly engine: EngineFacts;
  /** Rejects when the engine cannot go on; resolves when the host was closed. */
  readonly ended: Promise<void>;
  /** Whether it takes work at this moment; never rejects. */
  isReady(): Promise<boolean>;
  /** What separates sandboxes here, as a word for people. */
  readonly isolation: string;
  readonly warnings: readonly string[];
  /** Whether runs go on when this process has left, because another one carries them out; absent: they do not. */
  goesOn?(): boolean;
  /**
   * Path of a unix socket on which the application API is served with the rights of the data directory's owner; opened
   * on the first call, and requested again when its connections break: another process may have become the owner.
   * Absent: a service elsewhere, which has an address.
   */
  localApi?(): Promise<string>;
  /**
   * Idempotent for the same plan. `secrets`: values by the plan's names; by default those in this process's environment.
   * They are sealed, and count before where the plan's references lead.
   * @throws ParleyError run_exists when the run has another plan, engine_misconfigured when it is on another engine
   */
  startRun(runId: RunId, plan: Plan, secrets?: Readonly<Record<string, string>>): Promise<void>;
  /**
   * Accepted durably when it returns. `amended`: the plan that the event is about, which is stored before.
   * @throws ParleyError not_found, engine_misconfigured as above
   */
  tellRun(runId: RunId, event: RunRequest, amended?: Plan): Promise<void>;
  /**
   * Resolves when the run is finished, or rests (paused, drained) with nothing in flight. `onChange` fires after every
   * commit that touched it. Ends early when `signal` aborts. Rejects when the engine cannot go on.
   */
  waitForRun(
    runId: RunId,
    onChange: (row: RunRow, items: readonly RunItemRow[]) => void,
    signal: AbortSignal,
  ): Promise<RunRow>;
  /** @throws ParleyError export_invalid, export_unavailable, not_found */
  reconcile(runId: RunId, request: ReconcileRequest): Promise<ReconcileAnswer>;
  /** Writes the reports anew; where each file is, as `results.location` says it. */
  report(runId: RunId): Promise<Reported>;
  /** Collects what is missing, as far as stored events allow; where each file is, as `results.location` says it. */
  collect(runId: RunId): Promise<readonly string[]>;
  close(): Promise<void>;
}
