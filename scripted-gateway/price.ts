// What a call costs: tokens times the script's prices, in integer nano-USD (D26).
// It must not count tokens or keep rows.

import { divideHalfEven } from './decimal-usd.ts';
import type { ModelPrice, Usage } from './script/script.ts';

const tokensPerMillion = 1_000_000n;

/**
 * Nano-USD of one call. Input and output are added first and rounded once, half to even:
 * a price with up to three digits after the point is a whole number of nano-USD per token and never rounds.
 */
export function price(usage: Usage, model: ModelPrice): bigint {
  const input = BigInt(usage.promptTokens) * model.inputNanoUsdPerMillion;
  const output = BigInt(usage.completionTokens) * model.outputNanoUsdPerMillion;
  return divideHalfEven(input + output, tokensPerMillion);
}
