/**
 * What a call costs by the price of its model, exactly.
 * Owns prices as integers of 10^-15 USD a token and the one rounding to nano-USD (half-even, D26); must not know
 * where token counts come from.
 */
import { divideHalfEven, nanoUsd, type NanoUsd } from './money.ts';

/**
 * Integer femto-USD (10^-15) a token: prices are written in USD a token or in USD a million tokens, and both are exact
 * at that grain. Pico-USD would round prices below 10^-12 USD a token, as cached tokens of small models have them.
 */
export interface TokenPrice {
  readonly inputFemtoUsd: bigint;
  readonly outputFemtoUsd: bigint;
  /** Tokens that the gateway read from its cache; absent: they cost what other input costs. */
  readonly cachedInputFemtoUsd?: bigint;
  /** Tokens that it wrote into its cache; absent: they cost what other input costs. */
  readonly cacheWriteFemtoUsd?: bigint;
  /** Tokens that it wrote there to keep for an hour; absent: they cost what others cost that it wrote. */
  readonly cacheWriteLongFemtoUsd?: bigint;
  /** Completion tokens of the model's reasoning; absent: they cost what other output costs. */
  readonly reasoningFemtoUsd?: bigint;
}

export interface TokenCounts {
  /** All input tokens, cached ones included. */
  readonly promptTokens: number;
  /** All output tokens, reasoning included. */
  readonly completionTokens: number;
  /** Those of `promptTokens` that came from the cache, at most all of them; 0 when the gateway does not say. */
  readonly cachedTokens?: number;
  /** Those of `promptTokens` that were written into the cache; none of them came from it. */
  readonly cacheWriteTokens?: number;
  /** Those of `cacheWriteTokens` that are kept for an hour. */
  readonly cacheWriteLongTokens?: number;
  /** Those of `completionTokens` that were reasoning. */
  readonly reasoningTokens?: number;
}

const FEMTO_DIGITS = 15;
const FEMTO_PER_NANO = 1_000_000n;
const DECIMAL = /^(\d{1,20})(?:\.(\d{1,40}))?(?:[eE]([+-]?\d{1,2}))?$/;

/** Reads a decimal USD price a token; null when it is no such number, is negative or is finer than 10^-15 USD. */
export function parsePrice(text: string): bigint | null {
  const match = DECIMAL.exec(text.trim());
  if (!match) return null;
  const [, whole = '0', fraction = '', exponent = '0'] = match;
  const digits = BigInt(whole + fraction);
  const shift = FEMTO_DIGITS - fraction.length + Number(exponent);
  if (shift >= 0) return digits * 10n ** BigInt(shift);
  const divisor = 10n ** BigInt(-shift);
  return digits % divisor === 0n ? digits / divisor : null;
}

/**
 * The cost of one call: summed exactly in femto-USD, rounded half-even to a nano-USD once.
 * @throws RangeError when a count is no safe integer of 0 or more, when a part is more than its whole, or when the
 * amount is no safe integer of nano-USD (about nine million USD).
 */
export function costOf(price: TokenPrice, tokens: TokenCounts): NanoUsd {
  const prompt = count(tokens.promptTokens);
  const completion = count(tokens.completionTokens);
  const cached = count(tokens.cachedTokens ?? 0);
  const written = count(tokens.cacheWriteTokens ?? 0);
  const writtenLong = count(tokens.cacheWriteLongTokens ?? 0);
  const reasoning = count(tokens.reasoningTokens ?? 0);
  if (cached + written > prompt)
    throw new RangeError('Cannot price the call: more tokens are cached than were sent');
  if (writtenLong > written)
    throw new RangeError('Cannot price the call: more tokens are cached for an hour than are cached');
  if (reasoning > completion)
    throw new RangeError('Cannot price the call: more tokens are reasoning than were answered');
  const { inputFemtoUsd, outputFemtoUsd, cacheWriteFemtoUsd = inputFemtoUsd } = price;
  const femto =
    inputFemtoUsd * (prompt - cached - written) +
    (price.cachedInputFemtoUsd ?? inputFemtoUsd) * cached +
    cacheWriteFemtoUsd * (written - writtenLong) +
    (price.cacheWriteLongFemtoUsd ?? cacheWriteFemtoUsd) * writtenLong +
    outputFemtoUsd * (completion - reasoning) +
    (price.reasoningFemtoUsd ?? outputFemtoUsd) * reasoning;
  return nanoUsd(Number(divideHalfEven(femto, FEMTO_PER_NANO)));
}

/** The most that so many tokens can cost, whichever kinds they turn out to be; null when it is beyond all amounts. */
export function costAtMost(
  price: TokenPrice,
  tokens: Pick<TokenCounts, 'promptTokens' | 'completionTokens'>,
): NanoUsd | null {
  const { inputFemtoUsd: input, outputFemtoUsd: output } = price;
  const dearest = {
    inputFemtoUsd: greatest(
      input,
      price.cachedInputFemtoUsd,
      price.cacheWriteFemtoUsd,
      price.cacheWriteLongFemtoUsd,
    ),
    outputFemtoUsd: greatest(output, price.reasoningFemtoUsd),
  };
  try {
    return costOf(dearest, tokens);
  } catch {
    return null;
  }
}

function greatest(first: bigint, ...others: readonly (bigint | undefined)[]): bigint {
  return others.reduce<bigint>((most, other) => (other !== undefined && other > most ? other : most), first);
}

function count(tokens: number): bigint {
  if (!Number.isSafeInteger(tokens) || tokens < 0)
    throw new RangeError(`Cannot price the call: "${tokens}" is no count of tokens`);
  return BigInt(tokens);
}
