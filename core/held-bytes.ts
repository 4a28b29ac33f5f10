/**
 * How many bytes of bodies are in memory at once, of each owner and of all together (D31).
 * Owns the counting only; who is refused is told to come again.
 */

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

export class HeldBytes {
  readonly #bounds: ByteBounds;
  readonly #ofOwner = new Map<string, number>();
  #all = 0;

  constructor(bounds: ByteBounds) {
    this.#bounds = bounds;
  }

  get all(): number {
    return this.#all;
  }

  hold(owner: string): ByteHold {
    let held = 0;
    let isOver = false;
    return {
      take: (bytes) => {
        if (isOver || !this.#fits(owner, bytes)) return false;
        held += bytes;
        this.#add(owner, bytes);
        return true;
      },
      release: () => {
        if (isOver) return;
        isOver = true;
        this.#add(owner, -held);
      },
    };
  }

  #fits(owner: string, bytes: number): boolean {
    const own = this.#ofOwner.get(owner) ?? 0;
    return own + bytes <= this.#bounds.perOwnerMax && this.#all + bytes <= this.#bounds.max;
  }

  #add(owner: string, bytes: number): void {
    this.#all += bytes;
    const own = (this.#ofOwner.get(owner) ?? 0) + bytes;
    if (own === 0) this.#ofOwner.delete(owner);
    else this.#ofOwner.set(owner, own);
  }
}
