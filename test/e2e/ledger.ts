/**
 * The bill: what the scripted gateway has written down, and its exact sum.
 * Owns reading the ledger file; must not ask the gateway.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseUsd } from '../../scripted-gateway/decimal-usd.ts';
import { ledgerRowSchema, type LedgerRow } from '../../scripted-gateway/ledger.ts';
import type { BatchCopy } from './batch-copy.ts';

/** Where the example's gateway keeps it, from the folder of the example. */
export const LEDGER = '.parley/gateway-ledger.jsonl';

export function ledgerRows(copy: BatchCopy): readonly LedgerRow[] {
  return rowsOf(path.join(copy.example, LEDGER));
}

export function rowsOf(ledger: string): readonly LedgerRow[] {
  const lines = readFileSync(ledger, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => ledgerRowSchema.parse(JSON.parse(line)));
}

/** Nano-USD. */
export function sumOf(rows: readonly LedgerRow[]): bigint {
  return rows.reduce((sum, row) => sum + (parseUsd(row.cost_usd) ?? 0n), 0n);
}
