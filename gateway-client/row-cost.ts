/**
 * What a row of an export cost, in nano-USD.
 * Owns the ways in which exports say it or say that they do not know it; must not guess a price.
 */
import { decimalToUsd, nanoUsd, parseDecimal, ZERO_USD, type NanoUsd } from '../core/money.ts';
import type { Field, FieldReader, RawRow } from './row-fields.ts';

export type RowCost =
  | { readonly ok: true; readonly cost: NanoUsd; readonly isUnpriced: boolean }
  /** `value` null: the field is missing. */
  | { readonly ok: false; readonly field: Field; readonly value: string | null; readonly remedy: string };

const UNPRICED: RowCost = { ok: true, cost: ZERO_USD, isUnpriced: true };

export function costOf(row: RawRow, fields: FieldReader): RowCost {
  if (isOurs(row)) return ourCost(row);
  if (isUnpricedByLitellm(row)) return UNPRICED;
  const written = fields.text(row, 'cost');
  const decimal = written === null ? null : parseDecimal(written);
  if (decimal === null) return { ok: false, field: 'cost', value: written, remedy: '' };
  const currency = (fields.text(row, 'currency') ?? 'USD').toUpperCase();
  if (currency === 'USD') return amountOf(decimalToUsd(decimal), written);
  const rate = parseDecimal(fields.rates[currency] ?? '');
  if (rate === null || rate.isNegative) {
    const remedy = `; give its rate with --rate ${currency}=USD_FOR_ONE`;
    return { ok: false, field: 'currency', value: currency, remedy };
  }
  // Multiplied exactly and rounded once.
  const converted = { ...decimal, digits: decimal.digits * rate.digits, scale: decimal.scale + rate.scale };
  return amountOf(decimalToUsd(converted), written);
}

function amountOf(cost: NanoUsd | null, value: string | null): RowCost {
  return cost === null
    ? { ok: false, field: 'cost', value, remedy: '' }
    : { ok: true, cost, isUnpriced: false };
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
    : { ok: false, field: 'cost_nano_usd', value: String(value), remedy: '' };
}

/** LiteLLM writes 0, or nothing, for a model whose price it does not know; a reply of its cache is really free. */
function isUnpricedByLitellm(row: RawRow): boolean {
  if (!('spend' in row) || !('total_tokens' in row)) return false;
  const spend = row['spend'];
  const isNothing = spend === null || spend === '' || Number(spend) === 0;
  return isNothing && Number(row['total_tokens']) > 0 && !/^true$/i.test(String(row['cache_hit']));
}
