/**
 * The one source of chance: a seed and a name give a stream of numbers, the same on every machine.
 * Owns the generator and its splitting by name; must not be shared between two questions, so that asking one more
 * question never changes the answer of another.
 */

/** Spreads a 32-bit number over all its bits (the finaliser of MurmurHash3). */
function spread(bits: number): number {
  let mixed = bits;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** A stream of numbers from a seed. */
export class RandomStream {
  private state: number;

  /** Any safe integer of 0 or more; both halves of it count. */
  constructor(seed: number) {
    const high = Math.floor(seed / 2 ** 32);
    this.state = spread((seed - high * 2 ** 32) ^ Math.imul(high + 1, 0x9e3779b1));
  }

  /** A stream of its own for a name; takes nothing from this one. */
  split(name: string): RandomStream {
    let hash = this.state ^ 0x811c9dc5;
    for (let at = 0; at < name.length; at += 1) hash = Math.imul(hash ^ name.charCodeAt(at), 0x01000193);
    return new RandomStream(hash >>> 0);
  }

  /** From 0 to just below 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** True with this probability; 0 never, 1 always. */
  happens(share: number): boolean {
    return this.next() < share;
  }
}
