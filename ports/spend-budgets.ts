/**
 * Budgets that hold for the calls of several conversations together: those of runs.
 * Owns the interface; the proxy counts what is spent, the plan says how much may be.
 */
import type { NanoUsd } from '../core/money/money.ts';

export interface SpendBudgets {
  /**
   * The run that a conversation belongs to; null when it belongs to none. Never changes.
   * @throws ParleyError store_unavailable
   */
  runOf(conversationId: string): Promise<string | null>;
  /**
   * What the run may spend, as it stands now, changes of it included; null when nothing is enforced.
   * @throws ParleyError store_unavailable
   */
  limitOf(runId: string): Promise<NanoUsd | null>;
  /**
   * The priced cost of every row of the run that is stored; asked once, before its first call is sent.
   * @throws ParleyError store_unavailable
   */
  spentBy(runId: string): Promise<NanoUsd>;
}
