/**
 * One text for one value: JSON with sorted keys and no blank space.
 * Owns what hashes of plans are taken over; changing it changes every hash.
 */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/**
 * Keys are sorted by UTF-16 code units; entries whose value is undefined are left out.
 * @throws TypeError for a number that is not finite, a function, a symbol or a bigint.
 */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (typeof value === 'object' && value !== null) return canonicalObject(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw notJson(value);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw notJson(value);
  return text;
}

function canonicalObject(value: object): string {
  const entries = Object.entries(value)
    .filter(([, entry]) => entry !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, entry]) => `${JSON.stringify(key)}:${canonicalJson(entry)}`).join(',')}}`;
}

function notJson(value: unknown): TypeError {
  return new TypeError(`Cannot write the value "${String(value)}" as JSON: no such form`);
}
