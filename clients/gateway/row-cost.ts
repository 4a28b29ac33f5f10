/**
 * What a row of an export cost, in nano-USD.
 * Owns the ways in which exports say it or say that they do not know it; must not guess a price.
 */
import { decimalToUsd, nanoUsd, parseUsd, ZERO_USD, type NanoUsd } from '../../core/money/money.ts';
import { multiply, type Field, type FieldReader, type RawRow } from './row-fields.ts';

export type RowCost =
  | { readonly ok: true; readonly cost: NanoUsd; readonly isUnpriced: boolean }
  /** `remedy` null: the usual one for a field that is missing or no number. */
  | { readonly ok: false; readonly field: Field; readonly remedy: string | null };

const UNPRICED: RowCost = { ok: true, cost: ZERO_USD, isUnpriced: true };
const NANO_SCALE = 9;

export function costOf(row: RawRow, fields: FieldReader): RowCost {
  // What the user says of the file counts for more than what it looks like.
  if (fields.isMapped('cost_nano_usd')) return nanoCost(row, fields);
  if (!fields.isMapped('cost')) {
    if (isOurs(row)) return ourCost(row);
    if (isUnpricedByLitellm(row)) return UNPRICED;
  }
  const currency = (fields.text(row, 'currency') ?? 'USD').toUpperCase();
  // Most exports are in USD and of small amounts, which need no exact arithmetic; there may be millions of rows.
  const usd =
    currency === 'USD' && !fields.isScaled('cost') ? parseUsd(fields.text(row, 'cost') ?? '') : null;
  if (usd !== null) return { ok: true, cost: usd, isUnpriced: false };
  const decimal = fields.decimal(row, 'cost');
  if (decimal === null) return { ok: false, field: 'cost', remedy: null };
  if (currency === 'USD') return amountOf(decimalToUsd(decimal), 'cost');
  const rate = fields.rateOf(currency);
  if (rate === null) {
    return { ok: false, field: 'currency', remedy: `give its rate with --rate ${currency}=USD_FOR_ONE` };
  }
  // Multiplied exactly and rounded once.
  return amountOf(decimalToUsd(multiply(decimal, rate)), 'cost');
}

function amountOf(cost: NanoUsd | null, field: Field): RowCost {
  return cost === null
    ? { ok: false, field, remedy: 'one row cannot bill more than nine million USD; see to its unit' }
    : { ok: true, cost, isUnpriced: false };
}

function nanoCost(row: RawRow, fields: FieldReader): RowCost {
  const decimal = fields.decimal(row, 'cost_nano_usd');
  if (decimal === null) return { ok: false, field: 'cost_nano_usd', remedy: null };
  return amountOf(decimalToUsd({ ...decimal, scale: decimal.scale + NANO_SCALE }), 'cost_nano_usd');
}

/** The export of our own proxy: amounts are integers of nano-USD, and an empty one is unpriced (D26). */
function isOurs(row: RawRow): boolean {
  return ('callId' in row && 'costSource' in row) || 'cost_nano_usd' in row;
}

function ourCost(row: RawRow): RowCost {
  const value = 'cost_nano_usd' in row ? row['cost_nano_usd'] : row['cost'];
  if (value === null || value === undefined || value === '') return UNPRICED;
  const amount = Number(value);
  return Number.isSafeInteger(amount)
    ? { ok: true, cost: nanoUsd(amount), isUnpriced: false }
    : { ok: false, field: 'cost_nano_usd', remedy: null };
}

/** LiteLLM writes 0, or nothing, for a model whose price it does not know; a reply of its cache is really free. */
function isUnpricedByLitellm(row: RawRow): boolean {
  if (!('spend' in row) || !('total_tokens' in row)) return false;
  const spend = row['spend'];
  const isNothing = spend === null || spend === '' || Number(spend) === 0;
  return isNothing && Number(row['total_tokens']) > 0 && !/^true$/i.test(String(row['cache_hit']));
}
