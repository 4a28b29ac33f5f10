/**
 * A host in memory: rows that a test scripts, requests that it records.
 * Owns the wait for a run; a run ends when the script says so.
 */
import type { LocalResults } from '../../ports/results.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import type { ReconcileAnswer, ReconcileRequest } from '../../activities/reconcile-run.ts';
import { reconcile } from '../../core/reconcile/reconcile.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Plan } from '../../core/plan/plan.ts';
import type { SpendLoss } from '../../core/money/spend-loss.ts';
import type {
  LifecycleEvent,
  ReconciliationSummary,
  RunItemRow,
  RunRow,
} from '../../core/machine/projection.ts';
import { hostLife } from '../../host/host-life.ts';
import type { EngineConfig } from '../../host/config/deployment-config.ts';
import type { Finding } from '../../host/finding.ts';
import type { EngineFacts, Host, HostPort, Reader, RunRequest, ServerAnswer } from '../../host/host-port.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import { isResting } from '../../core/run/run-words.ts';

export interface Rows {
  readonly row: RunRow;
  readonly items: readonly RunItemRow[];
}

export interface FakeHost extends HostPort {
  readonly requests: RunRequest[];
  /** Plans that came with a request. */
  readonly amended: Plan[];
  readonly calls: string[];
  readonly reconciled: ReconcileRequest[];
  started: { readonly runId: string; readonly plan: Plan } | null;
  /** What the last host was opened for. */
  opened: { readonly engine: EngineConfig; readonly isWorker: boolean } | null;
  /** Changes the rows, as a commit would. */
  commit(rows: Rows): void;
  /** The engine cannot go on. */
  fail(error: Error): void;
}

export interface FakeHostOptions {
  readonly rows?: Rows | null;
  readonly plan?: Plan | null;
  readonly events?: readonly StoredEvent[];
  readonly placement?: string;
  readonly lifecycle?: readonly (LifecycleEvent & { readonly at: number })[];
  readonly runEvents?: readonly (LifecycleEvent & { readonly at: number })[];
  readonly warnings?: readonly string[];
  readonly summary?: ReconciliationSummary;
  readonly keepsExpectations?: boolean;
  /** Of spend rows. */
  readonly lost?: SpendLoss;
  readonly engine?: EngineFacts;
  /** The end of a host waits for this. */
  readonly closing?: Promise<void>;
  /** Another process owns the data directory, and answers `control`. */
  readonly locked?: boolean;
  /** Where results are; none by default. */
  readonly results?: Partial<LocalResults>;
  /** What the Temporal server of the deployment answers; without it there is none. */
  readonly server?: ServerAnswer;
  /** What the preflight check finds; by default all is well. */
  readonly findings?: readonly Finding[];
  /** What a request leads to. */
  onRequest?(request: RunRequest): Rows | null;
  onStart?(): Rows | null;
}

/** Of no rows and no conversations. */
const SUMS = reconcile({
  gatewayRows: [],
  spendRows: [],
  conversations: [],
  isForwarding: false,
  windowBeforeMs: 0,
  windowAfterMs: 0,
  ambiguous: 'keep',
});

function answerOfServer(
  host: FakeHost,
  event: RunRequest,
  { server = null }: { readonly server?: ServerAnswer | null },
): ServerAnswer | null {
  if (server !== null) host.requests.push(event);
  return server;
}

function answerTo(host: FakeHost, request: ReconcileRequest, options: FakeHostOptions): ReconcileAnswer {
  host.calls.push(`reconcile ${request.rowsFile ?? 'as planned'}`);
  host.reconciled.push(request);
  const isKept = (request.expectations ?? []).map(() => options.keepsExpectations ?? true);
  return { summary: options.summary ?? SUMMARY, sums: SUMS, isKept, lost: options.lost ?? null };
}

export const SUMMARY: ReconciliationSummary = {
  rows: 3,
  totalNanoUsd: 3_000_000,
  assignedNanoUsd: 2_000_000,
  ambiguousNanoUsd: 0,
  unassignedNanoUsd: 1_000_000,
  withinTolerance: true,
};

function keep(host: FakeHost, event: RunRequest, amended: Plan | undefined): void {
  host.requests.push(event);
  if (amended !== undefined) host.amended.push(amended);
}

export function fakeHost(options: FakeHostOptions = {}): FakeHost {
  let rows = options.rows ?? null;
  let poke: () => void = () => undefined;
  const life = hostLife();
  const host: FakeHost = {
    opened: null,
    fail: (error) => life.fail(error),
    ...{ requests: [], amended: [], calls: [], reconciled: [] },
    started: null,
    commit(changed) {
      rows = changed;
      poke();
    },
    openHost({ engine }, { onNotice, isWorker = false }) {
      host.opened = { engine, isWorker };
      if (options.locked === true)
        throw new ParleyError('data_directory_locked', 'Cannot use it: process 1 owns it');
      for (const warning of options.warnings ?? []) onNotice(warning);
      return Promise.resolve(opened());
    },
    openDesk: (...asked) => host.openHost(...asked),
    openReader: () => Promise.resolve(reader()),
    preflight: () => Promise.resolve(options.findings ?? []),
    control(_config, { event }) {
      if (options.locked === true) host.requests.push(event);
      return Promise.resolve(options.locked === true);
    },
    controlByServer: (_config, { event }) => Promise.resolve(answerOfServer(host, event, options)),
  };
  const told = (next: Rows | null | undefined): void => void (next != null && host.commit(next));
  const reader = (): Reader => fakeReader({ options, calls: host.calls, rows: () => rows });
  const opened = (): Host => ({
    ...reader(),
    engine: options.engine ?? { kind: 'embedded' },
    application: null,
    ended: life.ended,
    isReady: () => Promise.resolve(true),
    isolation: 'none',
    warnings: options.warnings ?? [],
    startRun(runId, plan) {
      host.started = { runId, plan };
      told(options.onStart?.());
      return Promise.resolve();
    },
    tellRun(_runId, event, amended) {
      keep(host, event, amended);
      told(options.onRequest?.(event));
      return Promise.resolve();
    },
    async waitForRun(_runId, onChange, signal) {
      for (;;) {
        if (rows !== null) onChange(rows.row, rows.items);
        if (rows !== null && (rows.row.phase === 'finished' || isResting(rows.row))) return rows.row;
        if (signal.aborted) throw new Error('aborted');
        await new Promise<void>((resolve) => {
          poke = resolve;
          signal.addEventListener('abort', () => resolve());
        });
      }
    },
    reconcile: (_runId, request) => Promise.resolve(answerTo(host, request, options)),
    report: () => Promise.resolve({ files: ['/results/report.md'], lost: options.lost ?? null }),
    collect: () => Promise.resolve(['/results/first/changes.patch']),
    async close() {
      await options.closing;
      host.calls.push('close');
    },
  });
  return host;
}

function fakeReader({
  options,
  calls,
  rows,
}: {
  readonly options: FakeHostOptions;
  readonly calls: string[];
  rows(): Rows | null;
}): Reader {
  return {
    run: (id) => Promise.resolve(rows()?.row.runId === id ? (rows()?.row ?? null) : null),
    runs: () => Promise.resolve([rows()?.row].filter((row) => row !== undefined)),
    runItems: () => Promise.resolve(rows()?.items ?? []),
    plan: () => Promise.resolve(options.plan ?? null),
    events: (_id, { afterSequence }) =>
      Promise.resolve((options.events ?? []).filter(({ sequence }) => sequence > afterSequence)),
    placement: () => Promise.resolve(options.placement ?? null),
    lifecycleEvents: () => Promise.resolve(options.lifecycle ?? []),
    runEvents: () => Promise.resolve(options.runEvents ?? []),
    lastActivityAt: () => Promise.resolve(rows()?.row.createdAt ?? null),
    results: { ...createResultsDirectory('/results'), ...options.results },
    draw: (id, form) => Promise.resolve(`${form} of ${id}\n`),
    close: () => Promise.resolve(void calls.push('close')),
  };
}
