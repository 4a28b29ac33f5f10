/**
 * Ids of calls, each larger than those before it.
 * Owns their form, a UUID of version 7; must not know who makes a call.
 * In order of time the store appends to its index; ids without order would touch a page of it for every row.
 */
import { randomBytes } from 'node:crypto';

/** Hexadecimal digits of the time, milliseconds since 1970, and of a count within one. */
const TIME_DIGITS = 12;
const COUNT_DIGITS = 3;
const COUNT_MAX = 16 ** COUNT_DIGITS - 1;
/** Chance for this many ids is fetched at once: asking the system each time costs more than the rest. */
const IDS_PER_FETCH = 256;
const CHANCE_BYTES = 8;

/** Unique over all processes by 62 bits of chance in each id, and in order within this one. */
export function callIds(now: () => number): () => string {
  let lastMs = 0;
  let count = 0;
  let head = headOf(0);
  let chance = Buffer.alloc(0);
  return () => {
    const ms = now();
    // A clock that was set back, or a full count, goes on from the last id.
    if (ms <= lastMs && count < COUNT_MAX) {
      count += 1;
    } else {
      lastMs = Math.max(ms, lastMs + 1);
      count = 0;
      head = headOf(lastMs);
    }
    if (chance.length < CHANCE_BYTES) chance = randomBytes(CHANCE_BYTES * IDS_PER_FETCH);
    const tail = chance.toString('hex', 0, CHANCE_BYTES);
    chance = chance.subarray(CHANCE_BYTES);
    return `${head}${count.toString(16).padStart(COUNT_DIGITS, '0')}-${variantOf(tail)}${tail.slice(1, 4)}-${tail.slice(4)}`;
  };
}

/** The same for every id of a millisecond: the time, and the version. */
function headOf(ms: number): string {
  const time = ms.toString(16).padStart(TIME_DIGITS, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7`;
}

/** The variant of the standard is the two upper bits of this digit. */
function variantOf(chance: string): string {
  return (0x8 | (Number.parseInt(chance.slice(0, 1), 16) & 0x3)).toString(16);
}
