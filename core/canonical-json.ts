/**
 * One text for one value: JSON with sorted keys and no blank space.
 * Owns what hashes of plans and of requests are taken over; changing it changes every hash.
 */

export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** Whether a value out of a file nests deeper than is walked by recursion. */
export function isDeeperThan(levels: number, value: unknown): boolean {
  let level: readonly unknown[] = [value];
  for (let depth = 0; depth <= levels; depth += 1) {
    level = level.flatMap((one) => (typeof one === 'object' && one !== null ? Object.values(one) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/**
 * Keys are sorted by UTF-16 code units; entries whose value is undefined are left out.
 * @throws TypeError for a number that is not finite, a function, a symbol or a bigint.
 */
export function canonicalJson(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (Array.isArray(value)) return canonicalList(value);
  if (typeof value === 'object' && value !== null) return canonicalObject(value);
  if (typeof value === 'number' && !Number.isFinite(value)) throw notJson(value);
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw notJson(value);
  return text;
}

function canonicalList(list: readonly unknown[]): string {
  let text = '';
  for (const entry of list) text += text === '' ? canonicalJson(entry) : `,${canonicalJson(entry)}`;
  return `[${text}]`;
}

/** Grown piece by piece: a plan of 100,000 items passes here, and lists of pieces would cost more than the text. */
function canonicalObject(value: object): string {
  const fields = value as Readonly<Record<string, unknown>>;
  let text = '';
  for (const key of Object.keys(fields).sort()) {
    const entry = fields[key];
    if (entry === undefined) continue;
    text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${canonicalJson(entry)}`;
  }
  return `{${text}}`;
}

function notJson(value: unknown): TypeError {
  return new TypeError(`Cannot write the value "${String(value)}" as JSON: no such form`);
}
