/**
 * The money of one call: held before each try, given back at its end (D30).
 * Owns the order of its budgets, that of the run first, and why a try is refused; must not send anything.
 */
import { nanoUsd, formatUsd, type NanoUsd } from '../../core/money/money.ts';
import { chargeOf, type BudgetAsk } from '../../core/money/reservation.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import type { ProxyKeyRecord } from '../../ports/proxy-keys.ts';
import type {
  BudgetHold,
  ReservationAnswer,
  ReservationWait,
  SpendReservations,
} from '../../ports/spend-reservations.ts';
import { failure, type Failure } from '../failure.ts';
import { BUSY_RETRY_AFTER_S } from '../limits.ts';

export interface Budget {
  readonly reservations: SpendReservations;
  /** Its owner, for the refusal. */
  readonly owner:
    { readonly run: string } | { readonly key: ProxyKeyRecord; readonly nextWindowS: number | null };
}

interface Held {
  readonly reservations: SpendReservations;
  readonly hold: BudgetHold;
}

export class CallMoney {
  private readonly budgets: readonly Budget[];
  private held: Held[] = [];
  private waiting: ReservationWait | null = null;

  constructor(budgets: readonly Budget[]) {
    this.budgets = budgets;
  }

  /** Null when no budget is enforced. */
  get heldNanoUsd(): NanoUsd | null {
    if (this.held.length === 0) return null;
    return nanoUsd(this.held.reduce((most, { hold }) => Math.max(most, hold.heldNanoUsd), 0));
  }

  /** The run whose budget limits the call; null for none. */
  get runId(): string | null {
    const [first] = this.budgets;
    return first !== undefined && 'run' in first.owner ? first.owner.run : null;
  }

  get isFree(): boolean {
    return this.budgets.length === 0;
  }

  get isWaiting(): boolean {
    return this.waiting !== null;
  }

  /** Why the try may not be sent; null when it may. After `cancel` a promise of it never resolves. */
  reserve(ask: () => BudgetAsk, index = 0): Failure | null | Promise<Failure | null> {
    const budget = this.budgets[index];
    if (budget === undefined) return null;
    const answer = budget.reservations.reserve(ask);
    if (answer.kind !== 'waiting') return this.answered(budget, answer, { ask, index });
    this.waiting = answer;
    return answer.answer.then((later) => {
      this.waiting = null;
      return this.answered(budget, later, { ask, index });
    });
  }

  private answered(
    budget: Budget,
    answer: ReservationAnswer,
    { ask, index }: { readonly ask: () => BudgetAsk; readonly index: number },
  ): Failure | null | Promise<Failure | null> {
    if (answer.kind === 'held') {
      this.held.push({ reservations: budget.reservations, hold: answer.hold });
      return this.reserve(ask, index + 1);
    }
    this.release();
    return refusal(budget, answer, ask());
  }

  /** The caller no longer waits, or no further try is sent. */
  cancel(): void {
    this.waiting?.cancel();
    this.waiting = null;
    this.release();
  }

  /** Nothing was sent for what is held. */
  release(): void {
    for (const { reservations, hold } of this.held.splice(0)) reservations.settle(hold, 0);
  }

  /** The try has ended; returns what budgets count for it where its cost is not known. */
  settle(end: {
    readonly row: SpendRow;
    readonly isUnbilled: boolean;
    readonly seenNanoUsd: number | null;
  }): NanoUsd {
    let most = 0;
    for (const { reservations, hold } of this.held.splice(0)) {
      const { heldNanoUsd } = hold;
      const charged = chargeOf({ ...end, heldNanoUsd, costNanoUsd: end.row.cost });
      reservations.settle(hold, charged);
      most = Math.max(most, charged);
    }
    return nanoUsd(most);
  }
}

function refusal(
  { owner }: Budget,
  answer: Exclude<ReservationAnswer, { kind: 'held' }>,
  { atMostNanoUsd }: BudgetAsk,
): Failure {
  const whose = 'run' in owner ? 'the run' : `the key "${owner.key.name}"`;
  if (answer.kind === 'unread')
    return failure('store_unavailable', `Cannot call the model: what ${whose} has spent cannot be read`);
  if (answer.kind === 'busy') {
    const message = `Cannot call the model: what is left of the budget of ${whose} is held by calls in flight; try again later`;
    return { ...failure('budget_held', message), retryAfterS: BUSY_RETRY_AFTER_S };
  }
  const state =
    answer.kind === 'used_up'
      ? `the budget of ${whose} is used up`
      : `it may cost ${formatUsd(nanoUsd(atMostNanoUsd ?? 0))}, and ${formatUsd(nanoUsd(answer.leftNanoUsd))} of the budget of ${whose} is left; ask for fewer tokens, or raise the budget`;
  // The code is in the text, too, because an agent passes on only the text.
  if ('run' in owner)
    return failure('run_budget_exceeded', `Cannot call the model: ${state} (budget_exceeded)`);
  return { ...failure('budget_exceeded', `Cannot call the model: ${state}`), retryAfterS: owner.nextWindowS };
}
