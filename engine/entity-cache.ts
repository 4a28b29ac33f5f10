/**
 * Entities in memory between commits.
 * Owns loading on first use and a bound on how many stay; the store owns the truth.
 */
import { addressKey, type EntityAddress } from '../core/ids.ts';
import type { EngineStore } from '../ports/engine-store.ts';
import type { HeldEntity } from './batch.ts';

/** Enough for the working set of ten thousand conversations with their sandboxes. */
const HELD_MAX = 25_000;

export class EntityCache {
  private readonly held = new Map<string, HeldEntity>();
  private readonly store: EngineStore;

  constructor(store: EngineStore) {
    this.store = store;
  }

  /** Makes sure an entity is in memory; unknown ones are held as not yet born. */
  async load(address: EntityAddress): Promise<void> {
    const key = addressKey(address);
    const known = this.held.get(key);
    if (known !== undefined) return this.touch(key, known);
    const stored = await this.store.load(address);
    this.held.set(key, stored ?? { address, state: null, deadline: null, done: false });
  }

  has(address: EntityAddress): boolean {
    return this.held.has(addressKey(address));
  }

  /** @throws Error when the entity was not loaded before: a bug of the driver */
  get(key: string): HeldEntity {
    const entity = this.held.get(key);
    if (entity === undefined) throw new Error(`Cannot step the entity "${key}": it was not loaded`);
    return entity;
  }

  /** Takes over what a commit made durable, and lets the least recently used go. */
  keep(entities: Iterable<HeldEntity>): void {
    for (const entity of entities) {
      // What has ended is hardly asked again; when it is, it is read back with its state.
      if (entity.done) this.held.delete(addressKey(entity.address));
      else this.touch(addressKey(entity.address), entity);
    }
    for (const key of this.held.keys()) {
      if (this.held.size <= HELD_MAX) return;
      this.held.delete(key);
    }
  }

  private touch(key: string, entity: HeldEntity): void {
    this.held.delete(key);
    this.held.set(key, entity);
  }
}
