/**
 * The limits that this process shares with other proxies, while they are in use.
 * Owns the list and the regular word to the store; one limit is a `LeasedAccount`.
 */
import type { LeaseAccount, LeaseUnit } from '../../ports/spend-leases.ts';
import { LEASE_REPORT_MS } from '../limits.ts';
import { LeasedAccount, type LeasedAccountOptions, type LeaseGround } from '../spend/leased-account.ts';

export class SharedLimits {
  private readonly ground: LeaseGround;
  private readonly accounts = new Map<
    string,
    { readonly unit: LeaseUnit; readonly account: LeasedAccount }
  >();
  private timer: NodeJS.Timeout | null = null;

  constructor(ground: LeaseGround) {
    this.ground = ground;
  }

  /** The same object for the same account while it is in use. */
  account(of: LeaseAccount, options: Omit<LeasedAccountOptions, 'ground' | 'account'>): LeasedAccount {
    const key = JSON.stringify([of.unit, of.windowFrom, of.owner]);
    const known = this.accounts.get(key)?.account;
    if (known !== undefined) {
      known.limit(options.limit);
      return known;
    }
    const account = new LeasedAccount({ ...options, ground: this.ground, account: of });
    this.accounts.set(key, { unit: of.unit, account });
    this.arm();
    return account;
  }

  /** What is here of each kind of limit, for the metrics. */
  shares(): ReadonlyMap<LeaseUnit, number> {
    const sums = new Map<LeaseUnit, number>();
    for (const { unit, account } of this.accounts.values())
      sums.set(unit, (sums.get(unit) ?? 0) + account.share);
    return sums;
  }

  /** Says everything that was used. */
  async report(): Promise<void> {
    await Promise.all([...this.accounts.values()].map(({ account }) => account.report()));
    for (const [key, { account }] of this.accounts) if (account.isIdle) this.accounts.delete(key);
  }

  forfeit(): void {
    for (const { account } of this.accounts.values()) account.forfeit();
  }

  stop(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
    this.accounts.clear();
  }

  /** Only while there is something to say. */
  private arm(): void {
    this.timer ??= setTimeout(() => {
      void this.report().finally(() => {
        this.timer = null;
        if (this.accounts.size > 0) this.arm();
      });
    }, LEASE_REPORT_MS);
    this.timer.unref();
  }
}
