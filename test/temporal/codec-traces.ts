/**
 * Finds a text in what a server keeps, in clear and in every form that needs no key to read.
 * Owns the search; must not know what is kept.
 */
import { brotliDecompressSync, gunzipSync, inflateRawSync, inflateSync } from 'node:zlib';
import type { Payload } from '@temporalio/common';

/** Encodings inside encodings; more than anything here writes. */
const DEPTH_MAX = 4;

/** Places of `value`, as paths with how each was read, at which `secret` can be read. */
export function tracesOf(value: unknown, secret: string): readonly string[] {
  const found: string[] = [];
  visit(value, '', (leaf, place) => {
    const how = readable(Buffer.from(leaf), Buffer.from(secret), 0);
    if (how !== null) found.push(`${place}: ${how}`);
  });
  return found;
}

/** Every payload inside, wherever it is; the typed values of search attributes are none. */
export function payloadsIn(value: unknown): readonly Payload[] {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return [];
  if ('metadata' in value && 'data' in value) return [value as Payload];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'searchAttributes' ? [] : payloadsIn(inner),
  );
}

function visit(
  value: unknown,
  place: string,
  leaf: (bytes: string | Uint8Array, place: string) => void,
): void {
  if (typeof value === 'string' || value instanceof Uint8Array) leaf(value, place);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) {
      leaf(name, `${place}.${name} (name)`);
      visit(inner, `${place}.${name}`, leaf);
    }
  }
}

function readable(bytes: Buffer, secret: Buffer, depth: number): string | null {
  if (bytes.includes(secret)) return 'in clear';
  if (depth === DEPTH_MAX) return null;
  for (const [name, read] of Object.entries(READERS)) {
    for (const inner of read(bytes)) {
      const how = readable(inner, secret, depth + 1);
      if (how !== null) return `${name}, ${how}`;
    }
  }
  return null;
}

const READERS: Readonly<Record<string, (bytes: Buffer) => readonly Buffer[]>> = {
  // A run may begin in the middle of a group of four.
  base64: (bytes) =>
    runsOf(bytes, /[A-Za-z0-9+/_-]{12,}/g).flatMap((run) =>
      [0, 1, 2, 3].map((skipped) => Buffer.from(run.slice(skipped), 'base64')),
    ),
  hex: (bytes) => runsOf(bytes, /(?:[0-9a-fA-F]{2}){8,}/g).map((run) => Buffer.from(run, 'hex')),
  escaped: (bytes) => unescaped(bytes.toString('latin1')),
  compressed: (bytes) =>
    [gunzipSync, inflateSync, inflateRawSync, brotliDecompressSync].flatMap((read) =>
      attempt(() => read(bytes)),
    ),
};

function runsOf(bytes: Buffer, pattern: RegExp): readonly string[] {
  return bytes.toString('latin1').match(pattern) ?? [];
}

/** Percent signs of addresses and the escapes of JSON. */
function unescaped(text: string): readonly Buffer[] {
  const plain = text
    .replaceAll(/%([0-9a-fA-F]{2})|\\u00([0-9a-fA-F]{2})/g, (_all, percent: string, unicode: string) =>
      String.fromCharCode(parseInt(percent ?? unicode, 16)),
    )
    .replaceAll(/\\(["\\/])/g, '$1');
  return plain === text ? [] : [Buffer.from(plain, 'latin1')];
}

function attempt(read: () => Buffer): readonly Buffer[] {
  try {
    return [read()];
  } catch {
    return [];
  }
}
