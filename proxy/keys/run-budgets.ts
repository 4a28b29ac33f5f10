/**
 * Budgets of runs, kept call by call: each holds what it may cost from before it is sent until it has ended (D30).
 * Owns which run a call belongs to and the account of each; must not plan or price.
 */
import type { SpendBudgets } from '../../ports/spend-budgets.ts';
import type { SpendReservations } from '../../ports/spend-reservations.ts';
import type { SharedLimits } from '../peers/shared-limits.ts';
import { BudgetAccount } from '../spend/budget-account.ts';
import { BUDGET_MEMORY_MS, RUNS_IN_MEMORY_MAX, SESSIONS_IN_MEMORY_MAX } from '../limits.ts';

export interface RunBudgetsOptions {
  readonly budgets: SpendBudgets;
  /** Brings rows to the store, so that a sum over them is whole. */
  readonly flush: () => Promise<void>;
  readonly clock: { now(): number };
  /** Where other proxies serve the same runs; else what they spend is counted here. */
  readonly shared?: SharedLimits;
}

export interface RunAccount {
  readonly runId: string;
  readonly account: SpendReservations;
}

interface Known {
  readAt: number;
  /** Null while nothing is enforced. */
  limit: number | null;
  /** Null while nothing is enforced, because what was spent is read when something is; and where it is shared. */
  account: BudgetAccount | null;
  loading: Promise<void> | null;
}

export class RunBudgets {
  private readonly options: RunBudgetsOptions;
  private readonly runs = new Map<string, string | null>();
  private readonly known = new Map<string, Known>();

  constructor(options: RunBudgetsOptions) {
    this.options = options;
  }

  /** Where a call of this conversation holds its money; null where nothing is enforced. @throws ParleyError store_unavailable */
  async accountOf(sessionId: string): Promise<RunAccount | null> {
    const runId = await this.runOf(sessionId);
    if (runId === null) return null;
    const known = this.known.get(runId) ?? this.opened(runId);
    if (known.readAt + BUDGET_MEMORY_MS <= this.options.clock.now()) await this.refresh(runId, known);
    const account = known.account ?? this.sharedAccount(runId, known);
    return account === null ? null : { runId, account };
  }

  private sharedAccount(runId: string, { limit }: Known): SpendReservations | null {
    const { shared, budgets, flush } = this.options;
    if (shared === undefined || limit === null) return null;
    const earlier = (): Promise<number> => flush().then(() => budgets.spentBy(runId));
    const of = { unit: 'run_nano_usd', owner: runId, windowFrom: 0 } as const;
    return shared.account(of, { limit, earlier, isPatient: true });
  }

  private async runOf(sessionId: string): Promise<string | null> {
    const known = this.runs.get(sessionId);
    if (known !== undefined) return known;
    const runId = await this.options.budgets.runOf(sessionId);
    const oldest = this.runs.keys().next();
    if (this.runs.size >= SESSIONS_IN_MEMORY_MAX && oldest.done !== true) this.runs.delete(oldest.value);
    this.runs.set(sessionId, runId);
    return runId;
  }

  /** One that is forgotten is read from the store again; one in use is not, because its calls are not there yet. */
  private opened(runId: string): Known {
    const known: Known = { limit: null, account: null, readAt: -Infinity, loading: null };
    if (this.known.size >= RUNS_IN_MEMORY_MAX) {
      for (const [id, { account }] of this.known) {
        if (account?.isInUse === true) continue;
        this.known.delete(id);
        break;
      }
    }
    this.known.set(runId, known);
    return known;
  }

  /** Calls that come meanwhile wait for the same answer. */
  private refresh(runId: string, known: Known): Promise<void> {
    known.loading ??= this.read(runId, known).finally(() => {
      known.loading = null;
    });
    return known.loading;
  }

  private async read(runId: string, known: Known): Promise<void> {
    const limit = await this.options.budgets.limitOf(runId);
    known.limit = limit;
    if (this.options.shared !== undefined) known.account = null;
    else if (known.account !== null && limit !== null) known.account.limit(limit);
    else if (limit === null) known.account = null;
    else {
      await this.options.flush();
      known.account = new BudgetAccount(limit, await this.options.budgets.spentBy(runId));
    }
    known.readAt = this.options.clock.now();
  }
}
