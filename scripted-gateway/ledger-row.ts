// One billed call as a row: the ledger file, the export and the tests all see this shape.
// It must not know how rows are kept.

import { z } from 'zod';

import { parseUsd } from './decimal-usd.ts';

/** Checked when a ledger file is loaded; the order of keys is the order of export columns. */
export const ledgerRowSchema = z.strictObject({
  /** The response's id. */
  request_id: z.string(),
  /** When the request had arrived, ISO 8601 in UTC with milliseconds. */
  time_start: z.iso.datetime(),
  /** When the answer was ready to be sent. */
  time_end: z.iso.datetime(),
  model: z.string(),
  api_key_name: z.string(),
  tags: z.array(z.string()).readonly(),
  session_id: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).readonly().nullable(),
  user: z.string().nullable(),
  prompt_tokens: z.int().min(0),
  completion_tokens: z.int().min(0),
  /** An exact decimal. */
  cost_usd: z.string().refine((text) => parseUsd(text) !== null),
  status: z.literal('success'),
});

export type LedgerRow = z.infer<typeof ledgerRowSchema>;

/** The export's columns, in order. */
export const ledgerColumns = Object.keys(ledgerRowSchema.shape) as readonly (keyof LedgerRow)[];
