/**
 * Each owner's share of the connections of all sandboxes, and which one is closed when there are too many (D31).
 * Owns the counting only; opening sockets belongs to the server. A connection has no owner until a key on it was read:
 * of those the oldest is closed, since an honest caller sends its key within milliseconds.
 */
import { OwnerCounts } from './owner-counts.ts';

export interface ConnectionBounds {
  /** Open at once, of all owners. */
  readonly max: number;
  /** Of them, by one owner. */
  readonly perOwnerMax: number;
}

/** Which bound struck: that of callers without a key, of one owner, or of all together. */
export type ConnectionStrike = 'no key' | 'one owner' | 'all';

/** The part of a socket that is used here. */
export interface SharedConnection {
  destroy(): unknown;
  once(event: 'close', listener: () => void): unknown;
}

/** Connections of a server, shared among their owners; where there are too many, one is closed. */
export class ConnectionShares<C extends SharedConnection> {
  readonly #bounds: ConnectionBounds;
  readonly #onStrike: (strike: ConnectionStrike) => void;
  /** In the order in which they came. */
  readonly #unowned = new Set<C>();
  readonly #ownerOf = new Map<C, string>();
  readonly #counts = new OwnerCounts();

  constructor(bounds: ConnectionBounds, onStrike: (strike: ConnectionStrike) => void) {
    this.#bounds = bounds;
    this.#onStrike = onStrike;
  }

  get size(): number {
    return this.#unowned.size + this.#ownerOf.size;
  }

  /** Half of the places are for those with a key, so that callers without one take nothing from them. */
  get unownedMax(): number {
    return Math.max(1, Math.floor(this.#bounds.max / 2));
  }

  opened(connection: C): void {
    this.#unowned.add(connection);
    connection.once('close', () => this.#closed(connection));
    const [oldest] = this.#unowned;
    if (this.#unowned.size <= this.unownedMax || oldest === undefined) return;
    this.#unowned.delete(oldest);
    oldest.destroy();
    this.#onStrike('no key');
  }

  /** A key was read on it. False when its owner, or all together, have too many: then it is to be refused and closed. */
  belongsTo(connection: C, owner: string): boolean {
    const before = this.#ownerOf.get(connection);
    if (before === owner) return true;
    // Not counted here, or ended meanwhile: what is still answered on it costs no place.
    if (before === undefined && !this.#unowned.has(connection)) return true;
    const isFull = before === undefined && this.#ownerOf.size >= this.#bounds.max - this.unownedMax;
    if (this.#counts.of(owner) >= this.#bounds.perOwnerMax || isFull) {
      this.#onStrike(isFull ? 'all' : 'one owner');
      return false;
    }
    this.#closed(connection);
    this.#ownerOf.set(connection, owner);
    this.#counts.add(owner, 1);
    return true;
  }

  #closed(connection: C): void {
    this.#unowned.delete(connection);
    const owner = this.#ownerOf.get(connection);
    if (owner === undefined) return;
    this.#ownerOf.delete(connection);
    this.#counts.add(owner, -1);
  }
}
