/**
 * What becomes of a number's text when it is read as a number of 64 bits.
 * Owns the comparison; what to do about a loss is the reader's business.
 */

/** `text`: the same number, written otherwise, as 3.10. `value`: another number, as twenty digits or 1e400. */
type NumberLoss = 'none' | 'text' | 'value';

export function numberLoss(written: string): NumberLoss {
  const value = Number(written);
  const spelled = String(value);
  if (spelled === written) return 'none';
  return Number.isFinite(value) && decimalOf(spelled) === decimalOf(written) ? 'text' : 'value';
}

/** Digits without zeros at either end, and the power of ten of the last one. */
function decimalOf(text: string): string {
  const parts = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(text);
  if (parts === null) return text;
  const [, whole = '', fraction = '', exponent = '0'] = parts;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  const power = Number(exponent) - fraction.length + (digits.length - significant.length);
  return `${text.startsWith('-') ? '-' : ''}${significant}e${power}`;
}
