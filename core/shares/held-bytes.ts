/**
 * How many bytes of bodies are in memory at once, of each owner and of all together (D31).
 * Owns the counting only; the server answers a refused caller that it may retry.
 */
import { OwnerCounts } from './owner-counts.ts';

export interface ByteBounds {
  readonly max: number;
  readonly perOwnerMax: number;
}

/** Bytes of one body, which grow as it comes. */
export interface ByteHold {
  /** False when there is no room for so many more; what was taken before stays taken. */
  take(bytes: number): boolean;
  /** Gives all of them back; a second time does nothing. */
  release(): void;
}

/** Bytes that a process holds for its callers, bounded in all and for each. */
export class HeldBytes {
  readonly #bounds: ByteBounds;
  readonly #held = new OwnerCounts();

  constructor(bounds: ByteBounds) {
    this.#bounds = bounds;
  }

  get all(): number {
    return this.#held.all;
  }

  hold(owner: string): ByteHold {
    let held = 0;
    let isOver = false;
    return {
      take: (bytes) => {
        if (isOver || !this.#fits(owner, bytes)) return false;
        held += bytes;
        this.#held.add(owner, bytes);
        return true;
      },
      release: () => {
        if (isOver) return;
        isOver = true;
        this.#held.add(owner, -held);
      },
    };
  }

  #fits(owner: string, bytes: number): boolean {
    const { max, perOwnerMax } = this.#bounds;
    return this.#held.of(owner) + bytes <= perOwnerMax && this.#held.all + bytes <= max;
  }
}
