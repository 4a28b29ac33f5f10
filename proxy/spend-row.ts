/**
 * The spend row of one call: how it opens and how it closes (D26).
 * Owns which fact goes into which field; must not store it.
 */
import type { NanoUsd } from '../core/money.ts';
import type { SpendRow } from '../core/spend.ts';
import { asObject, parseJson } from './json-value.ts';
import { TAG_LENGTH_MAX, TAGS_MAX } from './limits.ts';
import { costOf, type TokenPrice } from '../core/price.ts';
import type { Usage } from './usage.ts';

/** What is the same for every try of one call. */
export type CallerFacts = Pick<
  SpendRow,
  'modelName' | 'sessionId' | 'user' | 'keyName' | 'metadata' | 'team' | 'tags'
>;

export type TryFacts = Pick<SpendRow, 'callId' | 'startedAt' | 'route' | 'upstreamModel' | 'streamed'>;

export function openRow(caller: CallerFacts, facts: TryFacts): SpendRow {
  return {
    ...facts,
    ...caller,
    state: 'open',
    endedAt: null,
    httpStatus: null,
    responseId: null,
    promptTokens: null,
    completionTokens: null,
    cachedTokens: null,
    cost: null,
    costSource: 'unpriced',
  };
}

export interface CloseFacts {
  readonly state: 'succeeded' | 'failed' | 'aborted';
  readonly endedAt: number;
  readonly httpStatus: number | null;
  readonly responseId: string | null;
  readonly usage: Usage | null;
  readonly price: TokenPrice | null;
  /** From a header of the gateway; its `usage.cost` counts before it. */
  readonly headerCost: NanoUsd | null;
}

export function closeRow(row: SpendRow, facts: CloseFacts): SpendRow {
  const { state, endedAt, httpStatus, responseId, usage } = facts;
  return {
    ...row,
    state,
    endedAt,
    httpStatus,
    responseId,
    promptTokens: usage?.promptTokens ?? null,
    completionTokens: usage?.completionTokens ?? null,
    cachedTokens: usage?.cachedTokens ?? null,
    ...priced(facts),
  };
}

/** The entry's price, else the gateway's own amount, else `unpriced`, which is never 0. */
function priced(facts: CloseFacts): Pick<SpendRow, 'cost' | 'costSource'> {
  const cost = entryCost(facts.price, facts.usage);
  if (cost !== null) return { cost, costSource: 'entry' };
  const billed = facts.usage?.cost ?? facts.headerCost;
  return billed === null ? { cost: null, costSource: 'unpriced' } : { cost: billed, costSource: 'gateway' };
}

function entryCost(price: TokenPrice | null, usage: Usage | null): NanoUsd | null {
  if (price === null || usage === null || usage.promptTokens === null) return null;
  const { promptTokens, completionTokens } = usage;
  // Some replies (embeddings) have no completion at all, which is 0 tokens and not an unknown number.
  return costOf(price, { promptTokens, completionTokens: completionTokens ?? 0 });
}

/**
 * The spend metadata header over that of the key; `invalid` when it is no JSON object: that never fails the call.
 */
export function readMetadata(
  header: string | string[] | undefined,
  ofKey: Readonly<Record<string, unknown>> | undefined,
): SpendRow['metadata'] {
  if (header === undefined) return ofKey ?? null;
  const own = asObject(typeof header === 'string' ? parseJson(header) : undefined);
  return own === null ? 'invalid' : { ...ofKey, ...own };
}

/** Tags of the key and of the call, each once; what is too much is left out, and never fails the call. */
export function readTags(header: string | string[] | undefined, ofKey: readonly string[]): readonly string[] {
  if (header === undefined) return ofKey;
  const own = (typeof header === 'string' ? header : header.join(','))
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '' && tag.length <= TAG_LENGTH_MAX);
  return [...new Set([...ofKey, ...own])].slice(0, TAGS_MAX);
}
