/**
 * Tokens and cost per usage id, as `stats` reports them. Pure.
 * The amounts are the agent's own view; accounting is the proxy's and the gateway's (D26).
 */
import { z } from 'zod';

const tokenUsageSchema = z.object({
  model: z.string(),
  prompt_tokens: z.number(),
  completion_tokens: z.number(),
  cache_read_tokens: z.number(),
  cache_write_tokens: z.number(),
  reasoning_tokens: z.number(),
  context_window: z.number(),
  per_turn_token: z.number(),
  /** The answer the last addition came from. */
  response_id: z.string(),
});

const metricsSchema = z.object({
  model_name: z.string(),
  accumulated_cost: z.number(),
  max_budget_per_task: z.null(),
  accumulated_token_usage: tokenUsageSchema,
});

export const statsSchema = z.object({ usage_to_metrics: z.record(z.string(), metricsSchema) });
export type Stats = z.infer<typeof statsSchema>;
export type Metrics = z.infer<typeof metricsSchema>;

/** What one model answer used. */
export interface CallUsage {
  readonly responseId: string;
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly reasoningTokens: number;
  readonly costUsd: number;
}

export const EMPTY_STATS: Stats = { usage_to_metrics: {} };

/** The statistics with one more call under `usageId`. */
export function addUsage(
  stats: Stats,
  target: { readonly usageId: string; readonly model: string; readonly contextWindow: number },
  call: CallUsage,
): Stats {
  const before = stats.usage_to_metrics[target.usageId];
  const used = before?.accumulated_token_usage;
  const metrics: Metrics = {
    model_name: target.model,
    accumulated_cost: (before?.accumulated_cost ?? 0) + call.costUsd,
    max_budget_per_task: null,
    accumulated_token_usage: {
      model: target.model,
      prompt_tokens: (used?.prompt_tokens ?? 0) + call.promptTokens,
      completion_tokens: (used?.completion_tokens ?? 0) + call.completionTokens,
      cache_read_tokens: (used?.cache_read_tokens ?? 0) + call.cacheReadTokens,
      cache_write_tokens: (used?.cache_write_tokens ?? 0) + call.cacheWriteTokens,
      reasoning_tokens: (used?.reasoning_tokens ?? 0) + call.reasoningTokens,
      context_window: target.contextWindow,
      per_turn_token: call.promptTokens + call.completionTokens,
      response_id: call.responseId,
    },
  };
  return { usage_to_metrics: { ...stats.usage_to_metrics, [target.usageId]: metrics } };
}

/** The sum over all usage ids, or null when no call was made. */
export function totalMetrics(stats: Stats): Metrics | null {
  const all = Object.values(stats.usage_to_metrics);
  const [first] = all;
  if (first === undefined) return null;
  const sum = (read: (metrics: Metrics) => number): number =>
    all.reduce((total, each) => total + read(each), 0);
  return {
    ...first,
    accumulated_cost: sum((each) => each.accumulated_cost),
    accumulated_token_usage: {
      ...first.accumulated_token_usage,
      prompt_tokens: sum((each) => each.accumulated_token_usage.prompt_tokens),
      completion_tokens: sum((each) => each.accumulated_token_usage.completion_tokens),
      cache_read_tokens: sum((each) => each.accumulated_token_usage.cache_read_tokens),
      cache_write_tokens: sum((each) => each.accumulated_token_usage.cache_write_tokens),
      reasoning_tokens: sum((each) => each.accumulated_token_usage.reasoning_tokens),
    },
  };
}
