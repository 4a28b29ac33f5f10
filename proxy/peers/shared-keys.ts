/**
 * Limits of virtual keys that several proxies share: requests and tokens of a minute, calls at one time, money.
 * Owns what a call takes of each; the refusals are those of one process. A key without a limit costs nothing here.
 */
import { budgetWindow } from '../../core/money/budget-window.ts';
import type { ProxyKeyRecord } from '../../ports/proxy-keys.ts';
import type { LeaseUnit } from '../../ports/spend-leases.ts';
import type { BudgetHold, ReservationAnswer, SpendReservations } from '../../ports/spend-reservations.ts';
import { failure, type Failure } from '../failure.ts';
import { limited, minuteOf, MINUTE_MS } from '../keys/key-use.ts';
import type { LeasedAccount } from '../spend/leased-account.ts';
import type { SharedLimits } from './shared-limits.ts';

export interface SharedKeysOptions {
  readonly limits: SharedLimits;
  /** What the rows of the key say it spent in its present window. */
  readonly spent: (record: ProxyKeyRecord) => Promise<number>;
  readonly clock: { now(): number };
}

interface Taken {
  readonly account: LeasedAccount;
  readonly hold: BudgetHold;
}

const ONE = { atMostNanoUsd: 1, isOwnBound: true };

export class SharedKeys {
  private readonly options: SharedKeysOptions;
  /** Places of calls in flight, by name of the key; one is as good as another. */
  private readonly places = new Map<string, Taken[]>();

  constructor(options: SharedKeysOptions) {
    this.options = options;
  }

  /** Why a call is refused; null when it may go on, and is counted. */
  admit(record: ProxyKeyRecord): Failure | null | Promise<Failure | null> {
    const { rpm, tpm, parallelMax } = record;
    return rpm === null && tpm === null && parallelMax === null ? null : this.admitted(record);
  }

  private async admitted(record: ProxyKeyRecord): Promise<Failure | null> {
    const { rpm, tpm, parallelMax } = record;
    const untilMinute = MINUTE_MS - (this.options.clock.now() % MINUTE_MS);
    const asked = [
      ['requests', rpm, `${rpm} requests a minute`, untilMinute],
      ['tokens', tpm, `${tpm} tokens a minute`, untilMinute],
      ['calls', parallelMax, `${parallelMax} calls at one time`, null],
    ] as const;
    const taken = new Map<LeaseUnit, Taken>();
    for (const [unit, limit, text, untilMs] of asked) {
      if (limit === null) continue;
      const account = this.account(record, unit, limit);
      const answer = await one(account);
      if (answer.kind === 'held') {
        taken.set(unit, { account, hold: answer.hold });
        continue;
      }
      for (const { account: other, hold } of taken.values()) other.settle(hold, 0);
      return answer.kind === 'unread'
        ? failure(
            'store_unavailable',
            `Cannot call the model: the limits of the key "${record.name}" cannot be read`,
          )
        : limited(record, text, untilMs);
    }
    settle(taken.get('requests'), 1);
    // What it will use is known at its end; the question was whether any is left.
    settle(taken.get('tokens'), 0);
    const place = taken.get('calls');
    if (place !== undefined) this.places.set(record.name, [...(this.places.get(record.name) ?? []), place]);
    return null;
  }

  /** Null for a key without a budget. */
  money(record: ProxyKeyRecord): SpendReservations | null {
    const { budgetNanoUsd: limit, name: owner } = record;
    if (limit === null) return null;
    const windowFrom = budgetWindow(record, this.options.clock.now());
    return this.options.limits.account(
      { unit: 'key_nano_usd', owner, windowFrom },
      { limit, earlier: () => this.options.spent(record), isPatient: true },
    );
  }

  /** A call that was admitted has ended. */
  end(record: ProxyKeyRecord, tokens: number): void {
    const places = this.places.get(record.name);
    settle(places?.pop(), 0);
    if (places?.length === 0) this.places.delete(record.name);
    this.charge(record, tokens);
  }

  /** Tokens of a try that is no call of its own, or of one that has ended. */
  charge(record: ProxyKeyRecord, tokens: number): void {
    if (record.tpm !== null && tokens > 0) this.account(record, 'tokens', record.tpm).charge(tokens);
  }

  private account(record: ProxyKeyRecord, unit: LeaseUnit, limit: number): LeasedAccount {
    const windowFrom = unit === 'calls' ? 0 : minuteOf(this.options.clock.now());
    return this.options.limits.account(
      { unit, owner: record.name, windowFrom },
      { limit, earlier: () => Promise.resolve(0), isPatient: false },
    );
  }
}

function one(account: LeasedAccount): ReservationAnswer | Promise<ReservationAnswer> {
  const answer = account.reserve(() => ONE);
  return answer.kind === 'waiting' ? answer.answer : answer;
}

function settle(taken: Taken | undefined, used: number): void {
  taken?.account.settle(taken.hold, used);
}
