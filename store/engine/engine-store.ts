/**
 * What the embedded driver keeps, and its group commit: the hot path of a whole installation.
 * Owns the one transaction around state, outbox, inbox and records; states, events and commands stay opaque text.
 */
import { sql, type Insertable, type Transaction } from 'kysely';
import type { EntityAddress } from '../../core/ids.ts';
import type {
  CommitBatch,
  EngineStore,
  InboxEntry,
  Json,
  OutboxEntry,
  StoredEntity,
} from '../../ports/engine-store.ts';
import type { Journal } from '../../ports/journal.ts';
import { safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { address } from './entity-address.ts';
import { loadState, putStates } from './entity-states.ts';
import { addEntry, latestEntry, verdictOn } from './journal.ts';
import { projectRows } from '../records/projection-writer.ts';
import { prepareRows } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

export function engineStore(connection: StoreConnection): EngineStore & Journal {
  return {
    load: (entity) => load(connection, entity),
    armed: () => armed(connection),
    outbox: () => outbox(connection),
    inbox: () => inbox(connection),
    commit: (batch) =>
      connection.write('commit a batch', (transaction) => apply(connection, transaction, batch)),
    commitJournaled: (entry, batch) =>
      connection.repeatableWrite('commit a journaled batch', async (transaction) => {
        if (!(await addEntry(transaction, entry))) return verdictOn(transaction, entry);
        await apply(connection, transaction, batch);
        return { kind: 'applied' };
      }),
    latest: (entity) =>
      connection.read(`read the journal of the ${entity.machine} "${entity.id}"`, (db) =>
        latestEntry(db, entity),
      ),
  };
}

async function apply(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  batch: CommitBatch,
): Promise<void> {
  await putStates(transaction, batch.entities);
  await changeOutbox(transaction, batch);
  await changeInbox(transaction, batch);
  await projectRows(connection, transaction, batch.projections);
}

function load(connection: StoreConnection, entity: EntityAddress): Promise<StoredEntity | null> {
  return connection.read(`load the ${entity.machine} "${entity.id}"`, (db) => loadState(db, entity));
}

async function armed(
  connection: StoreConnection,
): Promise<readonly { readonly address: EntityAddress; readonly deadline: number }[]> {
  const rows = await connection.read('read the armed entities', (db) =>
    db
      .selectFrom('entity')
      .select(['machine', 'id', 'deadline'])
      .where('deadline', 'is not', null)
      .where('done', '=', 0)
      .$narrowType<{ deadline: number | bigint | string }>()
      .execute(),
  );
  return rows.map((row) => ({ address: address(row), deadline: safeInteger(row.deadline) }));
}

async function outbox(connection: StoreConnection): Promise<readonly OutboxEntry[]> {
  const rows = await connection.read('read the outbox', (db) =>
    db.selectFrom('outbox').selectAll().orderBy('created_at').orderBy('command_id').execute(),
  );
  return rows.map((row) => ({
    commandId: row.command_id,
    sender: address(row),
    command: JSON.parse(row.command) as Json,
    createdAt: safeInteger(row.created_at),
    attempt: safeInteger(row.attempt),
    notBefore: safeInteger(row.not_before),
  }));
}

async function inbox(connection: StoreConnection): Promise<readonly InboxEntry[]> {
  const rows = await connection.read('read the inbox', (db) =>
    db.selectFrom('inbox').selectAll().orderBy('position').execute(),
  );
  return rows.map((row) => ({
    inboxId: row.inbox_id,
    to: address(row),
    event: JSON.parse(row.event) as Json,
    acceptedAt: safeInteger(row.accepted_at),
  }));
}

const ADD_TO_OUTBOX = prepareRows((db, rows: readonly Insertable<Tables['outbox']>[]) =>
  db
    .insertInto('outbox')
    .values(rows)
    .onConflict((conflict) => conflict.column('command_id').doNothing())
    .compile(),
);

const REMOVE_FROM_OUTBOX = prepareRows((db, keys: readonly Pick<Tables['outbox'], 'command_id'>[]) =>
  db
    .deleteFrom('outbox')
    .where(
      'command_id',
      'in',
      keys.map((key) => key.command_id),
    )
    .compile(),
);

/** Adds before it removes, so that a command that came and went within one batch leaves nothing. */
async function changeOutbox(transaction: Transaction<Tables>, batch: CommitBatch): Promise<void> {
  const rows = batch.outboxAdded.map((entry) => ({
    command_id: entry.commandId,
    machine: entry.sender.machine,
    id: entry.sender.id,
    created_at: entry.createdAt,
    attempt: entry.attempt,
    not_before: entry.notBefore,
    command: JSON.stringify(entry.command),
  }));
  await ADD_TO_OUTBOX.execute(transaction, rows);
  await retryOutbox(transaction, batch.outboxRetried);
  const removed = batch.outboxRemoved.map((command_id) => ({ command_id }));
  await REMOVE_FROM_OUTBOX.execute(transaction, removed);
}

type Retry = CommitBatch['outboxRetried'][number];

/** One statement for many: an upstream that is down makes every command of a batch a retry. */
const RETRY = prepareRows((db, retries: readonly Retry[]) => {
  const values = retries.map(
    (retry) =>
      sql`(${retry.commandId}, cast(${retry.attempt} as bigint), cast(${retry.notBefore} as bigint))`,
  );
  // Both dialects call the columns of a bare list of values "column1" and so on.
  return sql`update outbox set attempt = retry.column2, not_before = retry.column3
    from (values ${sql.join(values)}) as retry where outbox.command_id = retry.column1`.compile(db);
});

async function retryOutbox(transaction: Transaction<Tables>, retried: readonly Retry[]): Promise<void> {
  const latest = [...new Map(retried.map((retry) => [retry.commandId, retry])).values()];
  await RETRY.execute(transaction, latest);
}

const ADD_TO_INBOX = prepareRows((db, rows: readonly Omit<Insertable<Tables['inbox']>, 'position'>[]) =>
  db
    .insertInto('inbox')
    .values(rows)
    .onConflict((conflict) => conflict.column('inbox_id').doNothing())
    .compile(),
);

const REMOVE_FROM_INBOX = prepareRows((db, keys: readonly Pick<Tables['inbox'], 'inbox_id'>[]) =>
  db
    .deleteFrom('inbox')
    .where(
      'inbox_id',
      'in',
      keys.map((key) => key.inbox_id),
    )
    .compile(),
);

async function changeInbox(transaction: Transaction<Tables>, batch: CommitBatch): Promise<void> {
  const rows = batch.inboxAdded.map((entry) => ({
    inbox_id: entry.inboxId,
    machine: entry.to.machine,
    id: entry.to.id,
    accepted_at: entry.acceptedAt,
    event: JSON.stringify(entry.event),
  }));
  await ADD_TO_INBOX.execute(transaction, rows);
  const removed = batch.inboxRemoved.map((inbox_id) => ({ inbox_id }));
  await REMOVE_FROM_INBOX.execute(transaction, removed);
}
