/**
 * What a gateway says a call used and cost (D26).
 * Owns reading it from a parsed reply or frame; must not count tokens itself.
 */
import { parseUsd, type NanoUsd } from '../core/money.ts';
import { asObject } from './json-value.ts';

export interface Usage {
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly cachedTokens: number | null;
  /** The gateway's own price of the call (`usage.cost`); null when it names none. */
  readonly cost: NanoUsd | null;
}

/** Reads the member `usage` of a reply, in the words of chat or of responses; null when it is no object. */
export function readUsage(value: unknown): Usage | null {
  const usage = asObject(value);
  if (usage === null) return null;
  const details = usage['prompt_tokens_details'] ?? usage['input_tokens_details'];
  return {
    promptTokens: readCount(usage['prompt_tokens'] ?? usage['input_tokens']),
    completionTokens: readCount(usage['completion_tokens'] ?? usage['output_tokens']),
    cachedTokens: readCount(asObject(details)?.['cached_tokens']),
    cost: readCost(usage['cost']),
  };
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

function readCount(value: unknown): number | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : null;
}

function readCost(value: unknown): NanoUsd | null {
  if (typeof value !== 'number' && typeof value !== 'string') return null;
  const cost = parseUsd(String(value));
  return cost === null || cost < 0 ? null : cost;
}
