/**
 * Budgets of runs, kept call by call: once a run has spent what it may, its further calls are refused.
 * Owns the count of what each run has spent; calls in flight at that moment end normally. Must not plan or price.
 */
import type { NanoUsd } from '../core/money.ts';
import type { SpendRow } from '../core/spend.ts';
import type { SpendBudgets } from '../ports/spend-budgets.ts';
import { failure, type Failure } from './failure.ts';
import { BUDGET_MEMORY_MS, RUNS_IN_MEMORY_MAX, SESSIONS_IN_MEMORY_MAX } from './limits.ts';

export interface RunBudgetsOptions {
  readonly budgets: SpendBudgets;
  /** Brings rows to the store, so that a sum over them is whole. */
  readonly flush: () => Promise<void>;
  readonly clock: { now(): number };
}

interface Account {
  limitNanoUsd: NanoUsd | null;
  readAt: number;
  /** Null until it is known; nothing is counted before, because nothing is sent before. */
  spentNanoUsd: number | null;
  loading: Promise<void> | null;
}

export class RunBudgets {
  private readonly options: RunBudgetsOptions;
  private readonly runs = new Map<string, string | null>();
  private readonly accounts = new Map<string, Account>();

  constructor(options: RunBudgetsOptions) {
    this.options = options;
  }

  /** Why a call of this conversation is refused; null lets it go on. @throws ParleyError store_unavailable */
  async admit(sessionId: string): Promise<Failure | null> {
    const runId = await this.runOf(sessionId);
    if (runId === null) return null;
    const account = this.accounts.get(runId) ?? this.opened(runId);
    if (account.readAt + BUDGET_MEMORY_MS <= this.options.clock.now()) await this.readLimit(runId, account);
    if (account.limitNanoUsd === null) return null;
    if (account.spentNanoUsd === null) await this.load(runId, account);
    if ((account.spentNanoUsd ?? 0) < account.limitNanoUsd) return null;
    // The word stands in the text too, because an agent hands on no more than the text.
    const message = `Cannot call the model: the budget of the run is used up (budget_exceeded)`;
    return failure('run_budget_exceeded', message);
  }

  /** A row has closed: each try counts. A run that nobody asked about yet is read from the store when somebody does. */
  count(row: SpendRow): void {
    const runId = row.sessionId === null ? null : (this.runs.get(row.sessionId) ?? null);
    const account = runId === null ? undefined : this.accounts.get(runId);
    if (account !== undefined && account.spentNanoUsd !== null) account.spentNanoUsd += row.cost ?? 0;
  }

  private async runOf(sessionId: string): Promise<string | null> {
    const known = this.runs.get(sessionId);
    if (known !== undefined) return known;
    const runId = await this.options.budgets.runOf(sessionId);
    makeRoom(this.runs, SESSIONS_IN_MEMORY_MAX);
    this.runs.set(sessionId, runId);
    return runId;
  }

  private opened(runId: string): Account {
    const account: Account = { limitNanoUsd: null, readAt: -Infinity, spentNanoUsd: null, loading: null };
    makeRoom(this.accounts, RUNS_IN_MEMORY_MAX);
    this.accounts.set(runId, account);
    return account;
  }

  private async readLimit(runId: string, account: Account): Promise<void> {
    account.limitNanoUsd = await this.options.budgets.limitOf(runId);
    account.readAt = this.options.clock.now();
  }

  /** Calls that come meanwhile wait for the same sum. */
  private load(runId: string, account: Account): Promise<void> {
    account.loading ??= this.sum(runId, account).finally(() => {
      account.loading = null;
    });
    return account.loading;
  }

  private async sum(runId: string, account: Account): Promise<void> {
    await this.options.flush();
    account.spentNanoUsd = await this.options.budgets.spentBy(runId);
  }
}

/** What is forgotten is read from the store again when it is asked for. */
function makeRoom(known: Map<string, unknown>, max: number): void {
  const oldest = known.keys().next();
  if (known.size >= max && oldest.done !== true) known.delete(oldest.value);
}
