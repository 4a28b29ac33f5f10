/**
 * Sums of what our proxy recorded.
 * Owns the counting; amounts are integers and unpriced calls are counted apart (D26).
 */
import type { SpendRow } from '../core/money/spend.ts';
import type { OwnSpend } from './report-data.ts';

/** Before the first call. */
export const NO_SPEND: OwnSpend = { calls: 0, unpriced: 0, promptTokens: 0, completionTokens: 0, nanoUsd: 0 };

/** The sum of what the proxy recorded. */
export function ownSpend(calls: readonly SpendRow[]): OwnSpend {
  return calls.map(spendOf).reduce(addSpend, NO_SPEND);
}

/** Both together. */
export function addSpend(a: OwnSpend, b: OwnSpend): OwnSpend {
  return {
    calls: a.calls + b.calls,
    unpriced: a.unpriced + b.unpriced,
    promptTokens: a.promptTokens + b.promptTokens,
    completionTokens: a.completionTokens + b.completionTokens,
    nanoUsd: a.nanoUsd + b.nanoUsd,
  };
}

function spendOf({ cost, promptTokens, completionTokens }: SpendRow): OwnSpend {
  return {
    calls: 1,
    unpriced: cost === null ? 1 : 0,
    promptTokens: promptTokens ?? 0,
    completionTokens: completionTokens ?? 0,
    nanoUsd: cost ?? 0,
  };
}
