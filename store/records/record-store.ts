/**
 * The records that queries read, and the removal of a conversation.
 * Owns reading rows back as they were projected; writing them is `projection-writer.ts`.
 */
import type { Kysely, Transaction } from 'kysely';
import type { ConversationId, RunId, SandboxId } from '../../core/ids.ts';
import type {
  ConversationRow,
  ProjectionRow,
  RunItemRow,
  RunRow,
  SandboxRow,
} from '../../core/machine/projection.ts';
import type { RecordStore } from '../../ports/record-store.ts';
import { holdLock, type StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { EventNews } from './event-news.ts';
import { projectRows } from './projection-writer.ts';
import type { Tables } from '../schema/tables.ts';

export function recordStore(connection: StoreConnection, news: EventNews): RecordStore {
  return {
    project: (rows) =>
      connection.write('write records', (transaction) => projectRows(connection, transaction, rows)),
    sandbox: (id) =>
      connection.read(`read the sandbox "${id}"`, async (db) =>
        record<SandboxRow>(await SANDBOX.first(db, { id })),
      ),
    sandboxes: (living) => connection.read('list the sandboxes', (db) => sandboxes(db, living)),
    conversation: (id) =>
      connection.read(`read the conversation "${id}"`, async (db) =>
        record<ConversationRow>(await CONVERSATION.first(db, { id })),
      ),
    conversations: (filter) =>
      connection.read('list the conversations', (db) => conversations(db, filter ?? {})),
    run: (id) =>
      connection.read(`read the run "${id}"`, async (db) => record<RunRow>(await RUN.first(db, { id }))),
    runs: () =>
      connection.read('list the runs', (db) =>
        all<RunRow>(
          db.selectFrom('run').select('body').orderBy('created_at', 'desc').orderBy('run_id', 'desc'),
        ),
      ),
    runItems: (id) =>
      connection.read(`list the items of the run "${id}"`, (db) =>
        all<RunItemRow>(
          db.selectFrom('run_item').select('body').where('run_id', '=', id).orderBy('position'),
        ),
      ),
    runItem: (id, key) =>
      connection.read(`read the item "${key}" of the run "${id}"`, async (db) =>
        record<RunItemRow>(await RUN_ITEM.first(db, { id, key })),
      ),
    async removeConversation(id) {
      await connection.write(`remove the conversation "${id}"`, async (transaction) => {
        await holdLock(connection, transaction, 'removal');
        await removeConversation(transaction, id);
      });
      news.gone(id);
    },
  };
}

interface Key {
  readonly id: string;
}

const SANDBOX = prepareQuery((db, { id }: Key) =>
  db.selectFrom('sandbox').select('body').where('sandbox_id', '=', id).compile(),
);

const CONVERSATION = prepareQuery((db, { id }: Key) =>
  db.selectFrom('conversation').select('body').where('conversation_id', '=', id).compile(),
);

const RUN = prepareQuery((db, { id }: Key) =>
  db.selectFrom('run').select('body').where('run_id', '=', id).compile(),
);

const RUN_ITEM = prepareQuery((db, { id, key }: Key & { readonly key: string }) =>
  db.selectFrom('run_item').select('body').where('run_id', '=', id).where('key', '=', key).compile(),
);

function record<Row extends ProjectionRow>(row: { readonly body: string } | undefined): Row | null {
  return row === undefined ? null : (JSON.parse(row.body) as Row);
}

function sandboxes(
  db: Kysely<Tables>,
  living?: { readonly host: string | null },
): Promise<readonly SandboxRow[]> {
  const host = living?.host ?? null;
  return all<SandboxRow>(
    db
      .selectFrom('sandbox')
      .select('body')
      .$if(living !== undefined, (query) => query.where('status', '!=', 'MISSING'))
      .$if(host !== null, (query) =>
        query.where(({ eb, or }) => or([eb('host', '=', host), eb('host', 'is', null)])),
      )
      .orderBy('created_at')
      .orderBy('sandbox_id'),
  );
}

function conversations(
  db: Kysely<Tables>,
  filter: { readonly runId?: RunId; readonly sandboxId?: SandboxId },
): Promise<readonly ConversationRow[]> {
  const { runId, sandboxId } = filter;
  return all<ConversationRow>(
    db
      .selectFrom('conversation')
      .select('body')
      .$if(runId !== undefined, (query) => query.where('run_id', '=', runId ?? ''))
      .$if(sandboxId !== undefined, (query) => query.where('sandbox_id', '=', sandboxId ?? ''))
      .orderBy('created_at')
      .orderBy('conversation_id'),
  );
}

const BURY = prepareQuery((db, { id }: Key) =>
  db
    .insertInto('tombstone')
    .values({ conversation_id: id })
    .onConflict((conflict) => conflict.doNothing())
    .compile(),
);

const FORGET = (
  [
    'conversation',
    'conversation_tag',
    'start_task',
    'event',
    'transcript',
    'lifecycle_event',
    'workspace',
    'placement_decision',
  ] as const
).map((table) =>
  prepareQuery((db, { id }: Key) => db.deleteFrom(table).where('conversation_id', '=', id).compile()),
);

/** The attachment stays for `detach`, which decides about the sandbox; it no longer counts. */
const FORGET_TROUBLE = prepareQuery((db, { id }: Key) =>
  db.deleteFrom('trouble').where('machine', '=', 'conversation').where('id', '=', id).compile(),
);

async function removeConversation(transaction: Transaction<Tables>, id: ConversationId): Promise<void> {
  await BURY.all(transaction, { id });
  for (const forget of FORGET) await forget.all(transaction, { id });
  await FORGET_TROUBLE.all(transaction, { id });
}

interface BodyQuery {
  execute(): Promise<{ readonly body: string }[]>;
}

async function all<Row extends ProjectionRow>(query: BodyQuery): Promise<readonly Row[]> {
  const rows = await query.execute();
  return rows.map((row) => JSON.parse(row.body) as Row);
}
