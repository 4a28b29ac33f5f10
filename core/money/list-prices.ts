/**
 * What common models cost by the public price lists of their vendors: data, for entries that write no price (D30).
 * Owns the table: the vendors' public price lists at their standard rates of 2026-11-25, as the price table that comes
 * with LiteLLM 1.106.2 gathers them. An entry of `model_list` that writes a price overrides it. Must not price a call.
 * A model whose price changes with the length of the prompt is left out, because one line cannot say it.
 */
import { parsePrice, type TokenPrice } from './price.ts';

/** USD a million tokens, as the lists are written. */
interface ListedModel {
  readonly input: string;
  readonly output: string;
  readonly cachedRead?: string;
  readonly cacheWrite?: string;
  /** To be kept for an hour. */
  readonly cacheWriteLong?: string;
  /** Only where it is named apart from the output. */
  readonly reasoning?: string;
  readonly inputTokensMax: number;
  /** 0 for a model that answers with no tokens. */
  readonly outputTokensMax: number;
}

export const LIST_PRICES: Readonly<Record<string, ListedModel>> = {
  'gpt-4o': {
    input: '2.5',
    output: '10',
    cachedRead: '1.25',
    inputTokensMax: 128_000,
    outputTokensMax: 16_384,
  },
  'gpt-4o-mini': {
    input: '0.15',
    output: '0.6',
    cachedRead: '0.075',
    inputTokensMax: 128_000,
    outputTokensMax: 16_384,
  },
  'gpt-4.1': {
    input: '2',
    output: '8',
    cachedRead: '0.5',
    inputTokensMax: 1_047_576,
    outputTokensMax: 32_768,
  },
  'gpt-4.1-mini': {
    input: '0.4',
    output: '1.6',
    cachedRead: '0.1',
    inputTokensMax: 1_047_576,
    outputTokensMax: 32_768,
  },
  'gpt-4.1-nano': {
    input: '0.1',
    output: '0.4',
    cachedRead: '0.025',
    inputTokensMax: 1_047_576,
    outputTokensMax: 32_768,
  },
  o1: { input: '15', output: '60', cachedRead: '7.5', inputTokensMax: 200_000, outputTokensMax: 100_000 },
  o3: { input: '2', output: '8', cachedRead: '0.5', inputTokensMax: 200_000, outputTokensMax: 100_000 },
  'o3-mini': {
    input: '1.1',
    output: '4.4',
    cachedRead: '0.55',
    inputTokensMax: 200_000,
    outputTokensMax: 100_000,
  },
  'o4-mini': {
    input: '1.1',
    output: '4.4',
    cachedRead: '0.275',
    inputTokensMax: 200_000,
    outputTokensMax: 100_000,
  },
  'gpt-5': {
    input: '1.25',
    output: '10',
    cachedRead: '0.125',
    inputTokensMax: 272_000,
    outputTokensMax: 128_000,
  },
  'gpt-5-codex': {
    input: '1.25',
    output: '10',
    cachedRead: '0.125',
    inputTokensMax: 272_000,
    outputTokensMax: 128_000,
  },
  'gpt-5-mini': {
    input: '0.25',
    output: '2',
    cachedRead: '0.025',
    inputTokensMax: 272_000,
    outputTokensMax: 128_000,
  },
  'gpt-5-nano': {
    input: '0.05',
    output: '0.4',
    cachedRead: '0.005',
    inputTokensMax: 272_000,
    outputTokensMax: 128_000,
  },
  'gpt-5.1': {
    input: '1.25',
    output: '10',
    cachedRead: '0.125',
    inputTokensMax: 272_000,
    outputTokensMax: 128_000,
  },
  'gpt-5.1-codex': {
    input: '1.25',
    output: '10',
    cachedRead: '0.125',
    inputTokensMax: 400_000,
    outputTokensMax: 128_000,
  },
  'gpt-5.1-codex-mini': {
    input: '0.25',
    output: '2',
    cachedRead: '0.025',
    inputTokensMax: 400_000,
    outputTokensMax: 128_000,
  },
  'gpt-5.2': {
    input: '1.75',
    output: '14',
    cachedRead: '0.175',
    inputTokensMax: 272_000,
    outputTokensMax: 128_000,
  },
  'gpt-5.2-codex': {
    input: '1.75',
    output: '14',
    cachedRead: '0.175',
    inputTokensMax: 272_000,
    outputTokensMax: 128_000,
  },
  'gpt-5.3-codex': {
    input: '1.75',
    output: '14',
    cachedRead: '0.175',
    inputTokensMax: 272_000,
    outputTokensMax: 128_000,
  },
  'gpt-5.4-mini': {
    input: '0.75',
    output: '4.5',
    cachedRead: '0.075',
    inputTokensMax: 272_000,
    outputTokensMax: 128_000,
  },
  'text-embedding-3-small': { input: '0.02', output: '0', inputTokensMax: 8_191, outputTokensMax: 0 },
  'text-embedding-3-large': { input: '0.13', output: '0', inputTokensMax: 8_191, outputTokensMax: 0 },
  'text-embedding-ada-002': { input: '0.1', output: '0', inputTokensMax: 8_191, outputTokensMax: 0 },
  'claude-opus-4-5': {
    input: '5',
    output: '25',
    cachedRead: '0.5',
    cacheWrite: '6.25',
    cacheWriteLong: '10',
    inputTokensMax: 200_000,
    outputTokensMax: 64_000,
  },
  'claude-opus-4-6': {
    input: '5',
    output: '25',
    cachedRead: '0.5',
    cacheWrite: '6.25',
    cacheWriteLong: '10',
    inputTokensMax: 1_000_000,
    outputTokensMax: 128_000,
  },
  'claude-sonnet-4-5': {
    input: '3',
    output: '15',
    cachedRead: '0.3',
    cacheWrite: '3.75',
    cacheWriteLong: '6',
    inputTokensMax: 200_000,
    outputTokensMax: 64_000,
  },
  'claude-sonnet-4-6': {
    input: '3',
    output: '15',
    cachedRead: '0.3',
    cacheWrite: '3.75',
    cacheWriteLong: '6',
    inputTokensMax: 1_000_000,
    outputTokensMax: 128_000,
  },
  'claude-haiku-4-5': {
    input: '1',
    output: '5',
    cachedRead: '0.1',
    cacheWrite: '1.25',
    cacheWriteLong: '2',
    inputTokensMax: 200_000,
    outputTokensMax: 64_000,
  },
  'gemini-2.5-flash': {
    input: '0.3',
    output: '2.5',
    cachedRead: '0.03',
    reasoning: '2.5',
    inputTokensMax: 1_048_576,
    outputTokensMax: 65_536,
  },
  'gemini-2.5-flash-lite': {
    input: '0.1',
    output: '0.4',
    cachedRead: '0.01',
    reasoning: '0.4',
    inputTokensMax: 1_048_576,
    outputTokensMax: 65_536,
  },
  'deepseek-chat': {
    input: '0.28',
    output: '0.42',
    cachedRead: '0.028',
    inputTokensMax: 131_072,
    outputTokensMax: 8_192,
  },
  'deepseek-reasoner': {
    input: '0.28',
    output: '0.42',
    cachedRead: '0.028',
    inputTokensMax: 131_072,
    outputTokensMax: 65_536,
  },
  'mistral-large': {
    input: '0.5',
    output: '1.5',
    cachedRead: '0.05',
    inputTokensMax: 262_144,
    outputTokensMax: 262_144,
  },
  codestral: {
    input: '0.3',
    output: '0.9',
    cachedRead: '0.03',
    inputTokensMax: 128_000,
    outputTokensMax: 128_000,
  },
  'mistral-medium': {
    input: '1.5',
    output: '7.5',
    cachedRead: '0.15',
    inputTokensMax: 262_144,
    outputTokensMax: 262_144,
  },
};

export interface ListPrice {
  readonly price: TokenPrice;
  readonly inputTokensMax: number;
  readonly outputTokensMax: number;
}

const SNAPSHOT = /(?:-latest|-\d{8}|-\d{4}-\d{2}-\d{2})$/;

/**
 * By the model name that the gateway receives; a provider in front of it, and `-latest` or the date of a snapshot
 * behind it, do not count. Null for a model that the table lacks.
 */
export function listPriceOf(upstreamModel: string): ListPrice | null {
  const name = upstreamModel.slice(upstreamModel.lastIndexOf('/') + 1).toLowerCase();
  const key = [name, name.replace(SNAPSHOT, '')].find((one) => Object.hasOwn(LIST_PRICES, one));
  const listed = key === undefined ? undefined : LIST_PRICES[key];
  if (listed === undefined) return null;
  const { cachedRead, cacheWrite, cacheWriteLong, reasoning, inputTokensMax, outputTokensMax } = listed;
  const price: TokenPrice = {
    inputFemtoUsd: aToken(listed.input),
    outputFemtoUsd: aToken(listed.output),
    ...(cachedRead === undefined ? {} : { cachedInputFemtoUsd: aToken(cachedRead) }),
    ...(cacheWrite === undefined ? {} : { cacheWriteFemtoUsd: aToken(cacheWrite) }),
    ...(cacheWriteLong === undefined ? {} : { cacheWriteLongFemtoUsd: aToken(cacheWriteLong) }),
    ...(reasoning === undefined ? {} : { reasoningFemtoUsd: aToken(reasoning) }),
  };
  return { price, inputTokensMax, outputTokensMax };
}

function aToken(perMillion: string): bigint {
  return parsePrice(`${perMillion}e-6`) ?? 0n;
}
