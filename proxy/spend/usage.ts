/**
 * What a gateway says a call used and cost (D26).
 * Owns reading it from a parsed reply or frame, by the names of each vendor; must not count tokens itself.
 */
import { parseUsd, type NanoUsd } from '../../core/money/money.ts';
import { asObject, type JsonObject } from '../relay/json-value.ts';

export interface Usage {
  /** All input, what was read from a cache and written into it included. */
  readonly promptTokens: number | null;
  /** All output, reasoning included. */
  readonly completionTokens: number | null;
  readonly cachedTokens: number | null;
  readonly cacheWriteTokens: number | null;
  /** Those of `cacheWriteTokens` that are kept for an hour, at a price of their own. */
  readonly cacheWriteLongTokens: number | null;
  readonly reasoningTokens: number | null;
  /** The gateway's own price of the call (`usage.cost`); null when it names none. */
  readonly cost: NanoUsd | null;
}

/**
 * The usage of a reply or frame, wherever vendors put it: at the top, in a response or a message of events, beside a
 * vendor's own id (`x_groq`), or in each choice. Two usages are of the same call; null when there is none.
 */
export function usageOf(reply: JsonObject): Usage | null {
  const choices = reply['choices'];
  const places: readonly unknown[] = [
    reply,
    reply['response'],
    reply['message'],
    reply['x_groq'],
    ...(Array.isArray(choices) ? choices : []),
  ];
  let joined: Usage | null = null;
  for (const place of places) {
    const usage = readUsage(asObject(place)?.['usage']);
    if (usage !== null) joined = joinUsage(joined, usage);
  }
  return joined;
}

/** Reads the member `usage` of a reply, in the words of chat, responses or messages; null when it is no object. */
export function readUsage(value: unknown): Usage | null {
  const usage = asObject(value);
  if (usage === null) return null;
  const input = asObject(usage['prompt_tokens_details'] ?? usage['input_tokens_details']);
  const output = asObject(usage['completion_tokens_details'] ?? usage['output_tokens_details']);
  const cachedTokens = first(
    input?.['cached_tokens'],
    usage['cache_read_input_tokens'],
    usage['prompt_cache_hit_tokens'],
    usage['cached_tokens'],
  );
  const cacheWriteTokens = first(
    usage['cache_creation_input_tokens'],
    input?.['cache_creation_tokens'],
    input?.['cache_write_tokens'],
  );
  return {
    ...bothSides(usage, (cachedTokens ?? 0) + (cacheWriteTokens ?? 0)),
    cachedTokens,
    cacheWriteTokens,
    cacheWriteLongTokens: readCount(asObject(usage['cache_creation'])?.['ephemeral_1h_input_tokens']),
    reasoningTokens: first(
      output?.['reasoning_tokens'],
      output?.['thinking_tokens'],
      usage['reasoning_tokens'],
    ),
    cost: readCost(usage['cost']),
  };
}

/** `cached` counts what was read from a cache or written into it. */
function bothSides(usage: JsonObject, cached: number): Pick<Usage, 'promptTokens' | 'completionTokens'> {
  const total = readCount(usage['total_tokens']);
  const completion = first(usage['completion_tokens'], usage['output_tokens']);
  let prompt = readCount(usage['prompt_tokens']);
  const input = readCount(usage['input_tokens']);
  // In the messages format, cached tokens are beside the input and no part of it.
  const isBeside = 'cache_read_input_tokens' in usage || 'cache_creation_input_tokens' in usage;
  if (prompt === null && input !== null) prompt = isBeside ? input + cached : input;
  if (total === null) return { promptTokens: prompt, completionTokens: completion };
  // A total alone does not show how much was output: it counts as input, as most of it is.
  if (prompt === null)
    return { promptTokens: Math.max(0, total - (completion ?? 0)), completionTokens: completion };
  // Some vendors count reasoning only in the total, not in the completion.
  const rest = total - prompt;
  return { promptTokens: prompt, completionTokens: rest > (completion ?? 0) ? rest : completion };
}

/** The first that is a count. */
function first(...values: readonly unknown[]): number | null {
  for (const value of values) {
    const count = readCount(value);
    if (count !== null) return count;
  }
  return null;
}

/** For a stream that reports its usage in pieces, or as it grows: the greatest of each figure. */
export function joinUsage(before: Usage | null, now: Usage): Usage {
  if (before === null) return now;
  return {
    promptTokens: greater(before.promptTokens, now.promptTokens),
    completionTokens: greater(before.completionTokens, now.completionTokens),
    cachedTokens: greater(before.cachedTokens, now.cachedTokens),
    cacheWriteTokens: greater(before.cacheWriteTokens, now.cacheWriteTokens),
    cacheWriteLongTokens: greater(before.cacheWriteLongTokens, now.cacheWriteLongTokens),
    reasoningTokens: greater(before.reasoningTokens, now.reasoningTokens),
    cost: greater(before.cost, now.cost),
  };
}

function greater<Figure extends number>(a: Figure | null, b: Figure | null): Figure | null {
  if (a === null || b === null) return a ?? b;
  return a > b ? a : b;
}

const COST_HEADER = /^x-.+-response-cost$/;

/** The cost header some gateways add to a reply that is no stream (on a stream it is an estimate made before it). */
export function readCostHeader(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): NanoUsd | null {
  for (const name in headers) {
    const value = headers[name];
    if (typeof value === 'string' && COST_HEADER.test(name)) return readCost(value);
  }
  return null;
}

const WHOLE = /^\d{1,16}$/;

/** Some gateways write numbers as texts. */
function readCount(value: unknown): number | null {
  const count = typeof value === 'string' && WHOLE.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : null;
}

function readCost(value: unknown): NanoUsd | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const cost = parseUsd(String(value));
  return cost === null || cost < 0 ? null : cost;
}
