/**
 * An engine's store in memory: what is committed outlives the engine that committed it, as text and never as an object.
 * Owns the same tables as the real store, without their durability; must not be faster in what it promises.
 */
import { addressKey } from '../../core/ids.ts';
import type {
  CommitBatch,
  EngineStore,
  EntityWrite,
  InboxEntry,
  OutboxEntry,
  StoredEntity,
} from '../../ports/engine-store.ts';

export function memoryStore(): { readonly engine: EngineStore } {
  const entities = new Map<string, string>();
  const outbox = new Map<string, string>();
  const inbox = new Map<string, string>();
  const all = <Row>(rows: ReadonlyMap<string, string>): Row[] =>
    [...rows.values()].map((text) => JSON.parse(text) as Row);
  const armed = () =>
    all<StoredEntity>(entities).flatMap(({ address, deadline, done }) =>
      deadline === null || done ? [] : [{ address, deadline }],
    );
  return {
    engine: {
      load: (address) => {
        const text = entities.get(addressKey(address));
        return Promise.resolve(text === undefined ? null : parsed(text));
      },
      armed: () => Promise.resolve(armed()),
      outbox: () => Promise.resolve(all<OutboxEntry>(outbox)),
      inbox: () => Promise.resolve(all<InboxEntry>(inbox)),
      commit: (batch: CommitBatch) => {
        for (const write of batch.entities) {
          const key = addressKey(write.address);
          const before = entities.get(key);
          entities.set(key, JSON.stringify(written(before === undefined ? null : parsed(before), write)));
        }
        for (const entry of batch.outboxAdded) outbox.set(entry.commandId, JSON.stringify(entry));
        for (const { commandId, ...retry } of batch.outboxRetried) {
          const text = outbox.get(commandId);
          if (text !== undefined) outbox.set(commandId, JSON.stringify({ ...JSON.parse(text), ...retry }));
        }
        for (const commandId of batch.outboxRemoved) outbox.delete(commandId);
        for (const entry of batch.inboxAdded) inbox.set(entry.inboxId, JSON.stringify(entry));
        for (const inboxId of batch.inboxRemoved) inbox.delete(inboxId);
        return Promise.resolve();
      },
    },
  };
}

const parsed = (text: string): StoredEntity => JSON.parse(text) as StoredEntity;

function written(before: StoredEntity | null, { parts, ...entity }: EntityWrite): StoredEntity {
  if (parts === undefined) return entity;
  const lists = Object.entries(parts.lists).map(([name, { length, changed }]) => {
    const list = [...((parts.anew ? undefined : before?.lists?.[name]) ?? [])].slice(0, length);
    for (const { position, state } of changed) list[position] = state;
    return [name, list];
  });
  return { ...entity, lists: Object.fromEntries(lists) as NonNullable<StoredEntity['lists']> };
}
