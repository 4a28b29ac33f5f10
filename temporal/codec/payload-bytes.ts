/**
 * A payload as bytes and back, in the layout of Temporal's own message `temporal.api.common.v1.Payload`, so that a
 * codec in another language opens what this one seals: field 1 is the map of metadata, field 2 the data.
 * Owns the layout; must not know encryption.
 */
import type { Payload } from '@temporalio/common';

/** Tags of fields whose value is a length and that many bytes: `number << 3 | 2`. */
const FIELD_1 = 0x0a;
const FIELD_2 = 0x12;
/** Seven bits of a number in each byte; the eighth says that more follow. */
const GROUP_BITS = 7;
const GROUP_MASK = 0x7f;
const MORE = 0x80;
/** Lengths fit 32 bits: that is at most so many bytes. */
const LENGTH_BYTES_MAX = 5;

export interface PayloadParts {
  readonly metadata: Record<string, Uint8Array>;
  readonly data: Uint8Array;
}

export function payloadToBytes(payload: Pick<Payload, 'metadata' | 'data'>): Uint8Array {
  const entries = Object.entries(payload.metadata ?? {}).map(([name, value]) =>
    field(FIELD_1, [field(FIELD_1, [Buffer.from(name)]), field(FIELD_2, [value])]),
  );
  const data = payload.data ?? new Uint8Array(0);
  return Buffer.concat(data.length === 0 ? entries : [...entries, field(FIELD_2, [data])]);
}

/** @throws RangeError when `bytes` are no payload */
export function payloadFromBytes(bytes: Uint8Array): PayloadParts {
  const fields = readFields(bytes);
  const entries = fields.filter(({ tag }) => tag === FIELD_1).map(({ value }) => readFields(value));
  const metadata = Object.fromEntries(
    entries.map((entry) => [Buffer.from(last(entry, FIELD_1)).toString('utf8'), last(entry, FIELD_2)]),
  );
  return { metadata, data: last(fields, FIELD_2) };
}

function field(tag: number, parts: readonly Uint8Array[]): Uint8Array {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  return Buffer.concat([Uint8Array.of(tag, ...lengthBytes(length)), ...parts]);
}

function lengthBytes(length: number): readonly number[] {
  const groups: number[] = [];
  for (let rest = length; ; rest >>>= GROUP_BITS) {
    if (rest <= GROUP_MASK) return [...groups, rest];
    groups.push((rest & GROUP_MASK) | MORE);
  }
}

interface Field {
  readonly tag: number;
  readonly value: Uint8Array;
}

/** The last one counts, and an absent one is empty: the rule of the format. */
function last(fields: readonly Field[], tag: number): Uint8Array {
  return fields.findLast((one) => one.tag === tag)?.value ?? new Uint8Array(0);
}

function readFields(bytes: Uint8Array): readonly Field[] {
  const fields: Field[] = [];
  let at = 0;
  while (at < bytes.length) {
    const tag = bytes[at] ?? 0;
    if (tag !== FIELD_1 && tag !== FIELD_2)
      throw new RangeError(`Cannot read a payload: unknown field ${tag}`);
    const { length, next } = readLength(bytes, at + 1);
    if (next + length > bytes.length) throw new RangeError('Cannot read a payload: it ends too early');
    // A copy, so that the SDK never holds on to the bytes around it.
    fields.push({ tag, value: Uint8Array.from(bytes.subarray(next, next + length)) });
    at = next + length;
  }
  return fields;
}

function readLength(bytes: Uint8Array, from: number): { readonly length: number; readonly next: number } {
  let length = 0;
  for (let count = 0; count < LENGTH_BYTES_MAX; count++) {
    const byte = bytes[from + count];
    if (byte === undefined) break;
    length += (byte & GROUP_MASK) * 2 ** (GROUP_BITS * count);
    if ((byte & MORE) === 0) return { length, next: from + count + 1 };
  }
  throw new RangeError('Cannot read a payload: a length has no end');
}
