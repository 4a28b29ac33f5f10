/**
 * One limit that several proxies share, as kept in this process: a prepaid share, and calls that wait for more (D30).
 * Owns when the share is exchanged; how much it is, the store decides for all proxies by core/money/lease.ts.
 * A call that fits into the share goes at once; another share is requested from the store, which gets regular reports.
 */
import {
  decideReservation,
  type BudgetAsk,
  type BudgetDecision,
  type BudgetFacts,
} from '../../core/money/reservation.ts';
import type { LeaseAccount, LeaseAnswer, SpendLeases } from '../../ports/spend-leases.ts';
import type {
  BudgetHold,
  ReservationAnswer,
  ReservationWait,
  SpendReservations,
} from '../../ports/spend-reservations.ts';
import {
  LEASE_ACCOUNT_IDLE_MS,
  LEASE_CALLS,
  LEASE_RETRY_MS,
  LEASE_SHARES,
  LEASE_SURPLUS_IDLE_MS,
} from '../limits.ts';
import { BudgetAccount } from './budget-account.ts';

/** Of this process, for all its accounts. */
export interface LeaseGround {
  readonly leases: Pick<SpendLeases, 'exchange'>;
  /** The id under which it has joined. */
  holder(): string;
  /** Whether its lease still holds, so that no other proxy may have got its shares. */
  isHeld(): boolean;
  /** The store has given it up. */
  lost(): void;
  /** Monotonic milliseconds. */
  now(): number;
}

export interface LeasedAccountOptions {
  readonly ground: LeaseGround;
  readonly account: LeaseAccount;
  readonly limit: number;
  /** What was used before the limit was shared. */
  readonly earlier: () => Promise<number>;
  /** False: a call that others have to make room for is refused. */
  readonly isPatient: boolean;
}

type Standing = Extract<LeaseAnswer, { kind: 'standing' }>;

export class LeasedAccount implements SpendReservations {
  private readonly options: LeasedAccountOptions;
  private readonly calls: BudgetAccount;
  private limitOfAll: number;
  private granted = 0;
  /** The most that calls requested lately: an estimate for the next ones. */
  private typical = 0;
  private isUsedUp = false;
  /** Set while the waiting calls are decided after an exchange. */
  private fresh: Standing | null = null;
  private isWanted = false;
  private exchanging: Promise<void> | null = null;
  /** A call requested more during an exchange than the exchange brings. */
  private isAskedAgain = false;
  private isPlanned = false;
  private usedAt: number;
  private retry: NodeJS.Timeout | null = null;

  constructor(options: LeasedAccountOptions) {
    this.options = options;
    this.limitOfAll = options.limit;
    this.usedAt = options.ground.now();
    this.calls = new BudgetAccount(0, 0, (own, ask) => this.decide(own, ask));
  }

  /** What this process may use and has not reported as used. */
  get share(): number {
    return this.granted;
  }

  /** No call has used it for a while, and this process holds no share of it. */
  get isIdle(): boolean {
    const idleMs = this.options.ground.now() - this.usedAt;
    return !this.calls.isInUse && this.exchanging === null && !this.hasNews && idleMs > LEASE_ACCOUNT_IDLE_MS;
  }

  reserve(ask: () => BudgetAsk): ReservationAnswer | ReservationWait {
    this.usedAt = this.options.ground.now();
    return this.calls.reserve(ask);
  }

  settle(hold: BudgetHold, charged: number): void {
    this.usedAt = this.options.ground.now();
    this.calls.settle(hold, charged);
  }

  /** What was used without having been held. */
  charge(amount: number): void {
    this.usedAt = this.options.ground.now();
    this.typical = Math.max(this.typical, amount);
    this.calls.spentNanoUsd += amount;
  }

  /** Another limit counts from the next call on. */
  limit(limit: number): void {
    if (limit === this.limitOfAll) return;
    this.limitOfAll = limit;
    this.isUsedUp = false;
    this.ask();
  }

  /** Reports what was used, and gives back what is not needed; does nothing when nothing changed. */
  report(): Promise<void> {
    return this.hasNews ? this.exchange() : Promise.resolve();
  }

  /** Its shares went back, and its calls in flight count by their rows. */
  forfeit(): void {
    this.granted = 0;
    this.calls.beginWindow();
  }

  private get hasNews(): boolean {
    return this.calls.spentNanoUsd !== 0 || this.granted > this.calls.held.heldNanoUsd;
  }

  private decide(own: BudgetFacts, ask: BudgetAsk): BudgetDecision {
    const room = this.granted - own.spentNanoUsd - own.heldNanoUsd;
    const { atMostNanoUsd: most } = ask;
    if (most !== null) this.typical = Math.max(most, this.typical);
    const isHeld = this.options.ground.isHeld();
    if (isHeld && !this.isUsedUp && !own.isTaken && most !== null && most > 0 && most <= room)
      return { kind: 'go', heldNanoUsd: most, isAlone: false };
    if (this.fresh === null || !isHeld) {
      this.ask();
      return { kind: 'wait' };
    }
    return this.decideBy(this.fresh, own, ask);
  }

  /** Like a process with the whole limit; the shares of other proxies count as held. */
  private decideBy({ spent, others }: Standing, own: BudgetFacts, ask: BudgetAsk): BudgetDecision {
    const standing: BudgetFacts = {
      limitNanoUsd: this.limitOfAll,
      spentNanoUsd: spent + own.spentNanoUsd,
      heldNanoUsd: others + own.heldNanoUsd,
      inFlight: own.inFlight + (others > 0 ? 1 : 0),
      isTaken: own.isTaken,
    };
    const decision = decideReservation(standing, ask);
    const room = this.granted - own.spentNanoUsd - own.heldNanoUsd;
    const hasRoom = decision.kind !== 'go' || decision.heldNanoUsd <= room;
    if (decision.kind !== 'wait' && hasRoom) return decision;
    if (decision.kind === 'go' && !this.isWanted) {
      this.isAskedAgain = true;
      return { kind: 'wait' };
    }
    if (!this.options.isPatient) return { kind: 'used_up' };
    // The end of a call of this process wakes the waiting ones; else other proxies have to give something back.
    this.retry ??= setTimeout(() => {
      this.retry = null;
      this.ask();
    }, LEASE_RETRY_MS);
    return { kind: 'wait' };
  }

  /** Runs the exchange once the requesting call is in the queue. */
  private ask(): void {
    this.isAskedAgain = true;
    if (this.exchanging !== null || this.isPlanned) return;
    this.isPlanned = true;
    queueMicrotask(() => {
      this.isPlanned = false;
      void this.exchange();
    });
  }

  private exchange(): Promise<void> {
    this.exchanging ??= this.exchanged().finally(() => {
      this.exchanging = null;
    });
    return this.exchanging;
  }

  private async exchanged(): Promise<void> {
    try {
      do {
        this.isAskedAgain = false;
        const answer = await this.told();
        if (answer !== null) this.take(answer);
      } while (this.isAskedAgain);
    } catch {
      // The store is away: the share may be used while the lease holds; the rest of the limit is unknown.
      this.calls.refuseWaiting();
    }
  }

  /** Null when this process was given up: its callers try again, under its next name. */
  private async told(): Promise<Standing | null> {
    let earlier: number | null = null;
    for (;;) {
      const { calls, options } = this;
      const charged = calls.spentNanoUsd;
      const { heldNanoUsd: held, inFlight } = calls.held;
      const first = calls.firstAsk;
      const wanted = this.surplus;
      // What goes back is no longer used from now on; the rest may be used during the request, and so it is held.
      this.granted = Math.min(this.granted, charged + held + wanted);
      const kept = Math.max(0, this.granted - charged - held);
      const most = first === null ? 0 : first.atMostNanoUsd;
      const holder = options.ground.holder();
      const answer = await options.ground.leases.exchange({
        ...{ account: options.account, holder, limit: this.limitOfAll, earlier, charged, inFlight },
        ...{ held: held + kept, surplus: wanted - kept },
        ...{ least: most && Math.max(0, most - kept), isOwnBound: first?.isOwnBound ?? false },
      });
      switch (answer.kind) {
        case 'standing':
          calls.spentNanoUsd -= charged;
          return answer;
        case 'unknown':
          earlier = await options.earlier();
          break;
        case 'lost':
          if (options.ground.holder() === holder) options.ground.lost();
          calls.refuseWaiting();
          return null;
        default:
          return answer satisfies never;
      }
    }
  }

  private take(answer: Standing): void {
    this.granted = answer.granted;
    this.isWanted = answer.isWanted;
    // What was kept for future calls goes back at once to proxies that wait.
    if (answer.isWanted && this.granted > this.calls.held.heldNanoUsd + this.calls.spentNanoUsd)
      this.isAskedAgain = true;
    this.isUsedUp = answer.spent >= this.limitOfAll;
    this.fresh = answer;
    this.calls.wake();
    this.fresh = null;
  }

  /** For a few calls ahead, at most a small part of the limit; 0 when another proxy waits, or no calls come. */
  private get surplus(): number {
    const idleMs = this.options.ground.now() - this.usedAt;
    if (this.isWanted || idleMs > LEASE_SURPLUS_IDLE_MS) return 0;
    return Math.min(this.typical * LEASE_CALLS, Math.floor(this.limitOfAll / LEASE_SHARES));
  }
}
