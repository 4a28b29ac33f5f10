/**
 * What a model entry says about money: its prices, and the most that one call of it may use (D26, D30).
 * Owns these parameters and their checks; must not price a call.
 */
import { listPriceOf } from '../../core/money/list-prices.ts';
import { parsePrice, type TokenPrice } from '../../core/money/price.ts';
import type { ModelEntry } from '../config/config.ts';
import type { JsonObject } from '../relay/json-value.ts';
import { TOKENS_OF_A_CALL_MAX } from '../limits.ts';

/** Beside the two prices that belong together. */
const FURTHER = {
  cache_read_input_token_cost: 'cachedInputFemtoUsd',
  cache_creation_input_token_cost: 'cacheWriteFemtoUsd',
  cache_creation_input_token_cost_above_1hr: 'cacheWriteLongFemtoUsd',
  output_cost_per_reasoning_token: 'reasoningFemtoUsd',
} as const satisfies Readonly<Record<string, keyof TokenPrice>>;

type Further = keyof typeof FURTHER;
const FURTHER_PARAMS = Object.keys(FURTHER) as readonly Further[];

export const PRICE_PARAMS: readonly string[] = [
  'input_cost_per_token',
  'output_cost_per_token',
  ...FURTHER_PARAMS,
  // Said for `validate`: the gateway names the cost of each call.
  'cost_from_gateway',
  'max_input_tokens',
  'max_output_tokens',
];

interface TermsContext {
  /** For what the entry leaves to the public list. */
  readonly upstreamModel: string;
  readonly refuse: (field: string, reason: string) => null;
}

export type PriceTerms = Pick<ModelEntry, 'price' | 'inputTokensMax' | 'outputTokensMax'>;

export function readPriceTerms(params: JsonObject, context: TermsContext): PriceTerms {
  const listed = listPriceOf(context.upstreamModel);
  const fromGateway = params['cost_from_gateway'];
  if (fromGateway !== undefined && fromGateway !== true && fromGateway !== false)
    context.refuse('cost_from_gateway', 'it must be true or false');
  return {
    price: readPrice(params, context),
    inputTokensMax: readTokens(params, 'max_input_tokens', context) ?? listed?.inputTokensMax ?? null,
    outputTokensMax: readTokens(params, 'max_output_tokens', context) ?? listed?.outputTokensMax ?? null,
  };
}

function readPrice(params: JsonObject, context: TermsContext): TokenPrice | null {
  const [input, output] = [params['input_cost_per_token'], params['output_cost_per_token']];
  const further = FURTHER_PARAMS.filter((name) => params[name] !== undefined);
  if (input === undefined && output === undefined && further.length === 0) return null;
  const inputFemtoUsd = readOnePrice('input_cost_per_token', input, context);
  const outputFemtoUsd = readOnePrice('output_cost_per_token', output, context);
  const others = further.map((name) => [FURTHER[name], readOnePrice(name, params[name], context)] as const);
  if (inputFemtoUsd === null || outputFemtoUsd === null) return null;
  return {
    inputFemtoUsd,
    outputFemtoUsd,
    ...Object.fromEntries(others.filter(([, price]) => price !== null)),
  };
}

function readOnePrice(field: string, value: unknown, { refuse }: TermsContext): bigint | null {
  if (value === undefined) return refuse(field, 'both prices are needed; write 0 for one that is free');
  const price = typeof value === 'string' || typeof value === 'number' ? parsePrice(String(value)) : null;
  return price ?? refuse(field, 'it must be a decimal amount in USD, not negative, of at most 15 decimals');
}

function readTokens(params: JsonObject, field: string, { refuse }: TermsContext): number | null {
  const value = params[field];
  if (value === undefined) return null;
  const count = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= TOKENS_OF_A_CALL_MAX)
    return count;
  return refuse(field, `it must be a whole number of tokens, at most ${TOKENS_OF_A_CALL_MAX}`);
}
