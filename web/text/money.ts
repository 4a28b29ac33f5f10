/**
 * Amounts as a person reads them.
 * Owns the rounding: small amounts keep the digits that make them differ from nothing.
 */
const NANO_PER_USD = 1_000_000_000;

export function usdOfNano(nanoUsd: number): string {
  return usd(nanoUsd / NANO_PER_USD);
}

export function usd(amount: number): string {
  if (amount === 0) return '$0.00';
  if (Math.abs(amount) < 0.000_001) return '< $0.000001';
  const digits = Math.abs(amount) >= 1 ? 2 : Math.abs(amount) >= 0.01 ? 4 : 6;
  return `$${amount.toFixed(digits)}`;
}
