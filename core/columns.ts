/**
 * Long lists outside the reach of the garbage collector: numbers as columns, texts as bytes behind each other.
 * Owns growth and the search for a text; must not know what is kept.
 *
 * Every collection would visit millions of objects, or of entries in a map, and a heap grows to several times what
 * lives in it.
 */

type Numbers = Float64Array | Int32Array | Uint8Array;

const FIRST_LENGTH = 1_024;

/** Numbers of one kind by their position. What is beyond the end reads as 0. */
export class NumberColumn<Values extends Numbers> {
  private values: Values;
  private readonly make: (length: number) => Values;
  private count = 0;

  constructor(make: (length: number) => Values) {
    this.make = make;
    this.values = make(FIRST_LENGTH);
  }

  get length(): number {
    return this.count;
  }

  /** Returns its position. */
  push(value: number): number {
    if (this.count === this.values.length) {
      const grown = this.make(this.count * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.count] = value;
    this.count += 1;
    return this.count - 1;
  }

  at(place: number): number {
    return this.values[place] ?? 0;
  }

  set(place: number, value: number): void {
    this.values[place] = value;
  }

  /** A copy of all of them. */
  all(): Values {
    return this.values.slice(0, this.count) as Values;
  }
}

export const float64Column = () => new NumberColumn((length) => new Float64Array(length));
export const int32Column = () => new NumberColumn((length) => new Int32Array(length));
export const uint8Column = () => new NumberColumn((length) => new Uint8Array(length));

/** Characters that are one byte; ids have no others. */
const BYTE_MAX = 255;

/** Texts by their position, a byte for each character. */
export class TextColumn {
  private bytes = new Uint8Array(FIRST_LENGTH);
  private used = 0;
  private readonly ends = float64Column();
  /** Texts with other characters. */
  private readonly wide = new Map<number, string>();

  get length(): number {
    return this.ends.length;
  }

  /** Returns its position. */
  push(text: string): number {
    const from = this.used;
    if (from + text.length > this.bytes.length) this.grow(from + text.length);
    const { bytes } = this;
    for (let at = 0; at < text.length; at += 1) {
      const unit = text.charCodeAt(at);
      if (unit > BYTE_MAX) {
        this.wide.set(this.length, text);
        return this.ends.push(from);
      }
      bytes[from + at] = unit;
    }
    this.used = from + text.length;
    return this.ends.push(this.used);
  }

  private grow(needed: number): void {
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes);
    this.bytes = grown;
  }

  at(place: number): string {
    const wide = this.wide.get(place);
    if (wide !== undefined) return wide;
    let text = '';
    for (let at = this.startOf(place); at < this.ends.at(place); at += 1) {
      text += String.fromCharCode(this.bytes[at] ?? 0);
    }
    return text;
  }

  isAt(place: number, text: string): boolean {
    const from = this.startOf(place);
    const length = this.ends.at(place) - from;
    // Of a text with wide characters no byte is kept.
    if (length === 0) return (this.wide.get(place) ?? '') === text;
    if (length !== text.length) return false;
    const { bytes } = this;
    for (let at = 0; at < text.length; at += 1) {
      if (bytes[from + at] !== text.charCodeAt(at)) return false;
    }
    return true;
  }

  private startOf(place: number): number {
    return place === 0 ? 0 : this.ends.at(place - 1);
  }
}

/** Places probed for one text: more are only needed when an attacker has chosen texts whose hashes collide. */
const PROBES_MAX = 64;

/** Distinct texts, each with a position that stays. */
export class TextIndex {
  private readonly texts = new TextColumn();
  private readonly hashes = int32Column();
  /** Positions by the hash of their text, plus 1; 0 is free. */
  private slots = new Int32Array(2 * FIRST_LENGTH);
  /** Texts that found no slot. */
  private readonly crowded = new Map<string, number>();

  get length(): number {
    return this.texts.length;
  }

  /** −1 when it was never added. */
  find(text: string): number {
    return this.heldAt(this.slotOf(text, hashOf(text)), text);
  }

  /** The position of the text, which is new when it is `length` as it was before. */
  add(text: string): number {
    const hash = hashOf(text);
    const slot = this.slotOf(text, hash);
    const known = this.heldAt(slot, text);
    if (known >= 0) return known;
    const place = this.texts.push(text);
    this.hashes.push(hash);
    // Half of the slots stay free, so that searches are short.
    if (this.texts.length * 2 > this.slots.length) this.enlarge();
    else if (slot < 0) this.crowded.set(text, place);
    else this.slots[slot] = place + 1;
    return place;
  }

  private heldAt(slot: number, text: string): number {
    return slot < 0 ? (this.crowded.get(text) ?? -1) : (this.slots[slot] ?? 0) - 1;
  }

  /** All texts are different, so their hashes are enough. */
  private enlarge(): void {
    this.slots = new Int32Array(this.slots.length * 2);
    this.crowded.clear();
    for (let place = 0; place < this.texts.length; place += 1) {
      const slot = this.freeSlot(this.hashes.at(place));
      if (slot < 0) this.crowded.set(this.texts.at(place), place);
      else this.slots[slot] = place + 1;
    }
  }

  private freeSlot(hash: number): number {
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (let probe = 0; probe < PROBES_MAX; probe += 1) {
      if (this.slots[slot] === 0) return slot;
      slot = (slot + 1) & mask;
    }
    return -1;
  }

  /** The slot that has the text, or the free one where it would be; −1 when neither is near. */
  private slotOf(text: string, hash: number): number {
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (let probe = 0; probe < PROBES_MAX; probe += 1) {
      const held = (this.slots[slot] ?? 0) - 1;
      if (held < 0 || (this.hashes.at(held) === hash && this.texts.isAt(held, text))) return slot;
      slot = (slot + 1) & mask;
    }
    return -1;
  }
}

/** FNV-1a over its characters, with the high bits brought down: 32 bits with a sign, as a column keeps it. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5 | 0;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash ^ (hash >>> 15);
}
