/**
 * Turns old spend rows into daily totals, as `spend_retention_days` says.
 * Owns when that is done; the totals are the store's (each call counts once, before and after).
 */
import type { SpendAccounts } from '../../ports/spend-accounts.ts';
import { FOLD_EVERY_MS, FOLD_ROWS } from '../limits.ts';
import type { ProxyLog } from '../log.ts';

const DAY_MS = 86_400_000;

export interface RetentionOptions {
  readonly accounts: SpendAccounts;
  readonly clock: { now(): number };
  readonly log: ProxyLog;
  /** Asked anew each time, because a reload may change it; null keeps every row. */
  readonly days: () => number | null;
  /** Whether the totals are this process's to make. */
  readonly leads: () => boolean;
  /** Rows of calls that began before this instant go over into sums now. */
  readonly onFold: (startedBefore: number) => void;
}

export class SpendRetention {
  private readonly options: RetentionOptions;
  private timer: NodeJS.Timeout | null = null;
  private folding: Promise<void> = Promise.resolve();
  private isStopped = false;

  constructor(options: RetentionOptions) {
    this.options = options;
  }

  /** Looks now, and then every hour. */
  start(): void {
    void this.fold();
    this.timer = setInterval(() => void this.fold(), FOLD_EVERY_MS);
    this.timer.unref();
  }

  /** Whole days only, so that a day is not in part a total. A store that is away is asked again at the next time. */
  fold(): Promise<void> {
    this.folding = this.folding.then(() => this.foldAll());
    return this.folding;
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer !== null) clearInterval(this.timer);
    await this.folding;
  }

  private async foldAll(): Promise<void> {
    const days = this.options.days();
    if (days === null) return;
    const today = Math.floor(this.options.clock.now() / DAY_MS) * DAY_MS;
    const before = today - days * DAY_MS;
    this.options.onFold(before);
    if (!this.options.leads()) return;
    try {
      let folded = FOLD_ROWS;
      while (folded === FOLD_ROWS && !this.isStopped) {
        folded = await this.options.accounts.fold(before, FOLD_ROWS);
      }
    } catch (cause) {
      this.options.log.warn({ cause: String(cause) }, 'Cannot fold old spend rows: they stay as they are');
    }
  }
}
