// Which rows an export or a total is about: the query string, the caller's rights, the filter.
// It must not format rows.

import { z } from 'zod';

import { ApiError } from './api-error.ts';
import { formatUsd, parseUsd } from './decimal-usd.ts';
import type { KeyHolder } from './key-ring.ts';
import type { LedgerRow } from './ledger-row.ts';

const instant = z.union([z.iso.datetime({ offset: true }), z.iso.date()], {
  error: 'expected an ISO 8601 date, or a date and time with a zone',
});

const querySchema = z.strictObject({
  format: z.enum(['jsonl', 'csv'], { error: 'expected "jsonl" or "csv"' }).default('jsonl'),
  from: instant.optional(),
  to: instant.optional(),
  model: z.string().optional(),
  key: z.string().optional(),
  session: z.string().optional(),
});

export type SpendQuery = z.infer<typeof querySchema>;

/** Count and exact sums of the rows of a query. */
export interface SpendTotal {
  readonly count: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly cost_usd: string;
}

/** Reads a query string. Throws an ApiError 400 that names the first parameter at fault. */
export function parseSpendQuery(query: unknown): SpendQuery {
  const parsed = querySchema.safeParse(query);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const param = issue?.code === 'unrecognized_keys' ? (issue.keys[0] ?? '') : String(issue?.path[0] ?? '');
  const reason =
    issue?.code === 'unrecognized_keys'
      ? `expected one of ${Object.keys(querySchema.shape).join(', ')}`
      : (issue?.message ?? 'not understood');
  throw new ApiError({
    status: 400,
    type: 'invalid_request_error',
    message: `Cannot read query parameter "${param}": ${reason}`,
    param,
  });
}

/** A test for rows: what the holder may see, and `from` ≤ time_start < `to`. */
export function spendFilter(query: SpendQuery, holder: KeyHolder): (row: LedgerRow) => boolean {
  const from = query.from === undefined ? -Infinity : Date.parse(query.from);
  const to = query.to === undefined ? Infinity : Date.parse(query.to);
  const isIn = (row: LedgerRow): boolean => {
    const start = Date.parse(row.time_start);
    return from <= start && start < to;
  };
  const isWanted = (wanted: string | undefined, found: string | null): boolean =>
    wanted === undefined || wanted === found;
  return (row) =>
    (holder.admin || row.api_key_name === holder.name) &&
    isWanted(query.model, row.model) &&
    isWanted(query.key, row.api_key_name) &&
    isWanted(query.session, row.session_id) &&
    isIn(row);
}

/** Adds up rows in integer nano-USD. */
export function totalOf(rows: readonly LedgerRow[]): SpendTotal {
  const sum = (count: (row: LedgerRow) => number): number => rows.reduce((all, row) => all + count(row), 0);
  const nanoUsd = rows.reduce((all, row) => all + costOf(row), 0n);
  return {
    count: rows.length,
    prompt_tokens: sum((row) => row.prompt_tokens),
    completion_tokens: sum((row) => row.completion_tokens),
    cost_usd: formatUsd(nanoUsd),
  };
}

/** Throws on a cost that is no decimal: leaving it out would make a wrong sum look right. */
function costOf(row: LedgerRow): bigint {
  const nanoUsd = parseUsd(row.cost_usd);
  if (nanoUsd === null) throw new Error(`Cannot add up row "${row.request_id}": its cost is no decimal`);
  return nanoUsd;
}
