/**
 * How much of something each owner has, and all of them together.
 * Owns the sums; who has nothing is forgotten, so that owners who come and go fill no memory. Must not know bounds.
 */

export class OwnerCounts {
  readonly #counts = new Map<string, number>();
  #all = 0;

  get all(): number {
    return this.#all;
  }

  of(owner: string): number {
    return this.#counts.get(owner) ?? 0;
  }

  add(owner: string, change: number): void {
    this.#all += change;
    const count = this.of(owner) + change;
    if (count === 0) this.#counts.delete(owner);
    else this.#counts.set(owner, count);
  }
}
