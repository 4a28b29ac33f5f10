/**
 * The spend row of one call: how it opens and how it closes (D26).
 * Owns which fact goes into which field; must not store it.
 */
import type { NanoUsd } from '../../core/money/money.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import { headerText } from '../relay/header-names.ts';
import { asObject } from '../relay/json-value.ts';
import { TAG_LENGTH_MAX, TAGS_MAX } from '../limits.ts';
import { listPriceOf } from '../../core/money/list-prices.ts';
import { costOf, type TokenPrice } from '../../core/money/price.ts';
import { parsedJson } from '../../core/text/parsed-json.ts';
import type { Usage } from './usage.ts';

/** What is the same for every try of one call. */
export interface CallerFacts extends Pick<
  SpendRow,
  'modelName' | 'sessionId' | 'user' | 'keyName' | 'metadata'
> {
  readonly team?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  /** Where other proxies write to the same store. */
  readonly proxyId?: string | undefined;
  readonly runId?: string | undefined;
}

export type TryFacts = Pick<SpendRow, 'callId' | 'startedAt' | 'route' | 'upstreamModel' | 'streamed'>;

/** `held` is what budgets hold for it; null where none is enforced. */
export function openRow(caller: CallerFacts, facts: TryFacts, held: NanoUsd | null): SpendRow {
  return rowOf(caller, facts, OPEN, held ?? undefined);
}

/** Rows are written out field by field: a spread would give each call an object of another, slow kind. */
type End = Omit<SpendRow, keyof CallerFacts | keyof TryFacts>;

const OPEN: End = {
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

function rowOf(caller: CallerFacts, facts: TryFacts, end: End, held = end.held): SpendRow {
  const row: { -readonly [Field in keyof SpendRow]: SpendRow[Field] } = {
    callId: facts.callId,
    startedAt: facts.startedAt,
    route: facts.route,
    upstreamModel: facts.upstreamModel,
    streamed: facts.streamed,
    modelName: caller.modelName,
    sessionId: caller.sessionId,
    user: caller.user,
    keyName: caller.keyName,
    metadata: caller.metadata,
    state: end.state,
    endedAt: end.endedAt,
    httpStatus: end.httpStatus,
    responseId: end.responseId,
    promptTokens: end.promptTokens,
    completionTokens: end.completionTokens,
    cachedTokens: end.cachedTokens,
    cost: end.cost,
    costSource: end.costSource,
  };
  const { team, tags, proxyId, runId } = caller;
  const { cacheWriteTokens, reasoningTokens } = end;
  if (team !== undefined) row.team = team;
  if (tags !== undefined) row.tags = tags;
  if (cacheWriteTokens !== undefined) row.cacheWriteTokens = cacheWriteTokens;
  if (reasoningTokens !== undefined) row.reasoningTokens = reasoningTokens;
  if (held !== undefined) row.held = held;
  if (proxyId !== undefined) row.proxyId = proxyId;
  if (runId !== undefined) row.runId = runId;
  return row;
}

export interface CloseFacts {
  readonly state: 'succeeded' | 'failed' | 'cut' | 'aborted';
  readonly httpStatus: number | null;
  readonly responseId: string | null;
  readonly usage: Usage | null;
  readonly price: TokenPrice | null;
  /** From a header of the gateway; its `usage.cost` counts before it. */
  readonly headerCost: NanoUsd | null;
}

export function closeRow(row: SpendRow, endedAt: number, facts: CloseFacts): SpendRow {
  const { usage } = facts;
  const [cost, costSource] = costWithSource(row, facts);
  return rowOf(row, row, {
    state: facts.state,
    endedAt,
    httpStatus: facts.httpStatus,
    responseId: facts.responseId,
    promptTokens: usage?.promptTokens ?? null,
    completionTokens: usage?.completionTokens ?? null,
    cachedTokens: usage?.cachedTokens ?? null,
    cost,
    costSource,
    ...detailsOf(usage),
  });
}

/** What few gateways say; most rows stay without. */
function detailsOf(usage: Usage | null): Pick<SpendRow, 'cacheWriteTokens' | 'reasoningTokens'> | null {
  const written = usage?.cacheWriteTokens ?? null;
  const reasoning = usage?.reasoningTokens ?? null;
  if (written === null && reasoning === null) return null;
  return {
    ...(written === null ? {} : { cacheWriteTokens: written }),
    ...(reasoning === null ? {} : { reasoningTokens: reasoning }),
  };
}

/** The row of a call whose cost is not known, with what budgets count for it. */
export function chargedRow(row: SpendRow, held: NanoUsd): SpendRow {
  return row.cost === null ? { ...row, held } : row;
}

/** The entry's price, else the gateway's own amount, else the public list price, else `unpriced`, which is never 0. */
function costWithSource(
  { upstreamModel }: SpendRow,
  { usage, price, headerCost }: CloseFacts,
): readonly [NanoUsd | null, SpendRow['costSource']] {
  const fromEntry = tokenCost(price, usage);
  if (fromEntry !== null) return [fromEntry, 'entry'];
  const fromGateway = usage?.cost ?? headerCost;
  if (fromGateway !== null) return [fromGateway, 'gateway'];
  // An entry with a price and a call that it cannot price: no other price is any better.
  const listed = price === null && usage !== null ? listPriceOf(upstreamModel) : null;
  const fromList = tokenCost(listed?.price ?? null, usage);
  return fromList === null ? [null, 'unpriced'] : [fromList, 'list'];
}

function tokenCost(price: TokenPrice | null, usage: Usage | null): NanoUsd | null {
  if (price === null || usage === null || usage.promptTokens === null) return null;
  const { promptTokens } = usage;
  // Some replies (embeddings) have no completion at all, which is 0 tokens and not an unknown number.
  const completionTokens = usage.completionTokens ?? 0;
  const cachedTokens = Math.min(usage.cachedTokens ?? 0, promptTokens);
  const cacheWriteTokens = Math.min(usage.cacheWriteTokens ?? 0, promptTokens - cachedTokens);
  try {
    return costOf(price, {
      promptTokens,
      completionTokens,
      cachedTokens,
      cacheWriteTokens,
      cacheWriteLongTokens: Math.min(usage.cacheWriteLongTokens ?? 0, cacheWriteTokens),
      reasoningTokens: Math.min(usage.reasoningTokens ?? 0, completionTokens),
    });
  } catch {
    // More than an amount can hold, as no call costs: the row says what the gateway said, and has no price.
    return null;
  }
}

/**
 * The spend metadata header over that of the key; `invalid` when it is no JSON object: that never fails the call.
 */
export function readMetadata(
  header: string | string[] | undefined,
  ofKey: Readonly<Record<string, unknown>> | undefined,
): SpendRow['metadata'] {
  if (header === undefined) return ofKey ?? null;
  const own = asObject(typeof header === 'string' ? parsedJson(headerText(header)) : undefined);
  return own === null ? 'invalid' : { ...ofKey, ...own };
}

/** Tags of the key and of the call, each once; undefined for none. What is too much is left out, and never fails the call. */
export function readTags(
  header: string | string[] | undefined,
  ofKey: readonly string[] = [],
): readonly string[] | undefined {
  if (header === undefined) return ofKey.length === 0 ? undefined : ofKey;
  const own = headerText(typeof header === 'string' ? header : header.join(','))
    .split(',')
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '' && tag.length <= TAG_LENGTH_MAX);
  const all = [...new Set([...ofKey, ...own])].slice(0, TAGS_MAX);
  return all.length === 0 ? undefined : all;
}
