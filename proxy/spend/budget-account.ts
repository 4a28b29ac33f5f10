/**
 * One budget in the memory of this process: what is spent, what is held, and the calls that wait (D30).
 * Owns the queue; core/money/reservation.ts decides whether a call may begin.
 */
import {
  decideReservation,
  type BudgetAsk,
  type BudgetDecision,
  type BudgetFacts,
} from '../../core/money/reservation.ts';
import type {
  BudgetHold,
  ReservationAnswer,
  ReservationWait,
  SpendReservations,
} from '../../ports/spend-reservations.ts';
import { RESERVATION_WAIT_MS_MAX, RESERVATIONS_WAITING_MAX } from '../limits.ts';

interface Hold extends BudgetHold {
  readonly isAlone: boolean;
  isSettled: boolean;
  /** The window in which it began: money held in an earlier one does not count in this. */
  readonly window: number;
}

interface Waiter {
  readonly ask: () => BudgetAsk;
  readonly timer: NodeJS.Timeout;
  readonly answer: (answer: ReservationAnswer) => void;
}

/** For a budget of which this process knows only a part. */
export type DecideElsewhere = (own: BudgetFacts, ask: BudgetAsk) => BudgetDecision;

export class BudgetAccount implements SpendReservations {
  /** Null while nothing is enforced: calls hold no money, but are counted. */
  limitNanoUsd: number | null;
  spentNanoUsd: number;
  private heldNanoUsd = 0;
  private inFlight = 0;
  private isTaken = false;
  private window = 0;
  private waiting: Waiter[] = [];

  private readonly decideElsewhere: DecideElsewhere | null;

  constructor(limitNanoUsd: number | null, spentNanoUsd: number, decideElsewhere?: DecideElsewhere) {
    this.limitNanoUsd = limitNanoUsd;
    this.spentNanoUsd = spentNanoUsd;
    this.decideElsewhere = decideElsewhere ?? null;
  }

  /** What the calls in flight hold, and how many they are. */
  get held(): Pick<BudgetFacts, 'heldNanoUsd' | 'inFlight'> {
    return { heldNanoUsd: this.heldNanoUsd, inFlight: this.inFlight };
  }

  /** What the first waiting call requests; null when none waits. */
  get firstAsk(): BudgetAsk | null {
    return this.waiting[0]?.ask() ?? null;
  }

  /** Whether a call holds money or waits for it: an account forgotten meanwhile would be read again too early. */
  get isInUse(): boolean {
    return this.inFlight > 0 || this.waiting.length > 0;
  }

  reserve(ask: () => BudgetAsk): ReservationAnswer | ReservationWait {
    const decision = this.decide(ask);
    if (decision.kind === 'used_up') return decision;
    if (decision.kind === 'wait' || this.waiting.length > 0) return this.wait(ask);
    return this.answer(decision);
  }

  settle(given: BudgetHold, chargedNanoUsd: number): void {
    const hold = given as Hold;
    if (hold.isSettled) return;
    hold.isSettled = true;
    if (hold.window !== this.window) return;
    this.heldNanoUsd -= hold.heldNanoUsd;
    this.inFlight -= 1;
    if (hold.isAlone) this.isTaken = false;
    this.spentNanoUsd += chargedNanoUsd;
    this.wake();
  }

  /** Another limit counts at once, for waiting calls as well. */
  limit(limitNanoUsd: number | null): void {
    if (limitNanoUsd === this.limitNanoUsd) return;
    this.limitNanoUsd = limitNanoUsd;
    this.wake();
  }

  /** A new window of the budget begins; calls in flight count in the window where they began. */
  beginWindow(): void {
    this.window += 1;
    this.spentNanoUsd = 0;
    this.heldNanoUsd = 0;
    this.inFlight = 0;
    this.isTaken = false;
    this.wake();
  }

  private decide(ask: () => BudgetAsk): BudgetDecision {
    if (this.limitNanoUsd === null) return { kind: 'go', heldNanoUsd: 0, isAlone: false };
    const standing: BudgetFacts = {
      limitNanoUsd: this.limitNanoUsd,
      spentNanoUsd: this.spentNanoUsd,
      heldNanoUsd: this.heldNanoUsd,
      inFlight: this.inFlight,
      isTaken: this.isTaken,
    };
    return this.decideElsewhere === null
      ? decideReservation(standing, ask())
      : this.decideElsewhere(standing, ask());
  }

  private answer(decision: Exclude<BudgetDecision, { kind: 'wait' }>): ReservationAnswer {
    if (decision.kind !== 'go') return decision;
    const { heldNanoUsd, isAlone } = decision;
    this.heldNanoUsd += heldNanoUsd;
    this.inFlight += 1;
    if (isAlone) this.isTaken = true;
    const hold: Hold = { heldNanoUsd, isAlone, isSettled: false, window: this.window };
    return { kind: 'held', hold };
  }

  private wait(ask: () => BudgetAsk): ReservationAnswer | ReservationWait {
    if (this.waiting.length >= RESERVATIONS_WAITING_MAX) return { kind: 'busy' };
    let answerIt: Waiter['answer'] = () => undefined;
    const answer = new Promise<ReservationAnswer>((resolve) => {
      answerIt = resolve;
    });
    const giveUp = (): void => {
      this.leave(waiter);
      answerIt({ kind: 'busy' });
    };
    const timer = setTimeout(giveUp, RESERVATION_WAIT_MS_MAX);
    const waiter: Waiter = { ask, timer, answer: answerIt };
    this.waiting.push(waiter);
    return { kind: 'waiting', answer, cancel: () => this.leave(waiter) };
  }

  /** The call behind it in the queue may be able to begin. */
  private leave(waiter: Waiter): void {
    clearTimeout(waiter.timer);
    const at = this.waiting.indexOf(waiter);
    if (at < 0) return;
    this.waiting.splice(at, 1);
    if (at === 0) this.wake();
  }

  /** Refuses the waiting calls, because the store cannot be read. */
  refuseWaiting(): void {
    for (const { timer, answer } of this.waiting.splice(0)) {
      clearTimeout(timer);
      answer({ kind: 'unread' });
    }
  }

  /** Decides the waiting calls in their order, until one has to wait on. */
  wake(): void {
    for (let first = this.waiting[0]; first !== undefined; first = this.waiting[0]) {
      const decision = this.decide(first.ask);
      if (decision.kind === 'wait') return;
      this.waiting.shift();
      clearTimeout(first.timer);
      first.answer(this.answer(decision));
    }
  }
}
