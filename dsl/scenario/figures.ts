/**
 * Figures of a scenario as numbers: times, counts of tokens, distributions, prices.
 * Owns the conversion of text that its rule has accepted; must not judge it.
 */
import { parsePrice, type TokenPrice } from '../../core/money/price.ts';
import { parseDuration } from '../duration.ts';
import type { DistributionDocument } from './behaviour-schema.ts';
import type { ScenarioDistribution } from './scenario.ts';
import type { PriceDocument } from './scenario-schema.ts';

const TOKEN_UNITS: Readonly<Record<string, number>> = { k: 1_000, M: 1_000_000 };

/** `180k` → 180000; rounded, because 1.1 times a million is not whole in binary. */
export function tokenCount(text: string): number {
  const unit = TOKEN_UNITS[text.at(-1) ?? ''];
  return unit === undefined ? Number(text) : Math.round(Number(text.slice(0, -1)) * unit);
}

/** Milliseconds of a text that the rule of durations has accepted. */
export function lengthMs(text: string): number {
  return parseDuration(text) ?? 0;
}

export function distributionOf(
  written: DistributionDocument,
  numberOf: (text: string) => number,
): ScenarioDistribution {
  switch (written.dist) {
    case 'fixed':
      return { kind: 'fixed', value: numberOf(written.value) };
    case 'uniform':
      return { kind: 'uniform', min: numberOf(written.min), max: numberOf(written.max) };
    case 'lognormal':
      return { kind: 'lognormal', p50: numberOf(written.p50), p95: numberOf(written.p95) };
    case 'exponential':
      return { kind: 'exponential', mean: numberOf(written.mean) };
  }
}

/** Exact: nine decimals of USD per million tokens are whole femto-USD per token. */
export function priceOf({ input, output, cached_input: cached }: PriceDocument): TokenPrice {
  return {
    inputFemtoUsd: perToken(input),
    outputFemtoUsd: perToken(output),
    ...(cached === undefined ? {} : { cachedInputFemtoUsd: perToken(cached) }),
  };
}

function perToken(usdPerMillion: string): bigint {
  return parsePrice(`${usdPerMillion}e-6`) ?? 0n;
}
