/**
 * Entities in memory between commits.
 * Owns loading on first use and a bound on how many stay; the store owns the truth.
 */
import { addressKey, type EntityAddress } from '../core/ids.ts';
import { wholeState } from '../core/machine/machine.ts';
import { machineOf } from '../core/machine/machines.ts';
import type { EngineStore, StoredEntity } from '../ports/engine-store.ts';
import type { HeldEntity } from './batch.ts';

/** Enough for the working set of ten thousand conversations with their sandboxes. */
const HELD_MAX = 25_000;

/**
 * Entities with long lists that have ended: all their conversations still notify a run of their own end, and reading it
 * back for each would be reading all of it as often as it has items.
 */
const ENDED_MAX = 4;

export class EntityCache {
  private readonly held = new Map<string, HeldEntity>();
  /** Keys of those, the one that ended or changed last at the end. */
  private readonly ended = new Set<string>();
  private readonly store: EngineStore;

  constructor(store: EngineStore) {
    this.store = store;
  }

  /** Makes sure an entity is in memory; unknown ones are held as not yet created. */
  async load(address: EntityAddress): Promise<void> {
    const key = addressKey(address);
    const known = this.held.get(key);
    if (known !== undefined) return this.touch(key, known);
    const stored = await this.store.load(address);
    this.held.set(key, stored === null ? uncreated(address) : heldOf(stored));
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

  /** Takes over what a commit made durable, and drops the least recently used. */
  keep(entities: Iterable<HeldEntity>): void {
    for (const entity of entities) {
      const key = addressKey(entity.address);
      this.ended.delete(key);
      // What has ended is rarely needed again; when it is, it is read back with its state.
      if (entity.done && entity.kept === null) this.held.delete(key);
      else this.touch(key, entity);
      if (entity.done && entity.kept !== null) this.ended.add(key);
    }
    for (const key of this.ended) {
      if (this.ended.size <= ENDED_MAX) break;
      this.ended.delete(key);
      this.held.delete(key);
    }
    for (const key of this.held.keys()) {
      if (this.held.size <= HELD_MAX) return;
      this.held.delete(key);
    }
  }

  /**
   * A commit of these has failed. Whether it was applied is not always known, so what the store has of them is not
   * known any more either: their next write is whole.
   */
  doubt(keys: Iterable<string>): void {
    for (const key of keys) {
      const entity = this.held.get(key);
      if (entity !== undefined && entity.kept !== null) this.held.set(key, { ...entity, kept: null });
    }
  }

  private touch(key: string, entity: HeldEntity): void {
    this.held.delete(key);
    this.held.set(key, entity);
  }
}

function uncreated(address: EntityAddress): HeldEntity {
  return { address, state: null, deadline: null, done: false, kept: null };
}

/** A list is known as it was read: what a machine makes of it while it joins is a change like any other. */
function heldOf(stored: StoredEntity): HeldEntity {
  const { address, deadline, done, lists = null } = stored;
  return { address, state: wholeState(machineOf(address.machine), stored), deadline, done, kept: lists };
}
