/**
 * JSON documents of users by kind and name.
 * Owns their bound and that a name is taken once; must not read what a document says.
 */
import type { Transaction } from 'kysely';
import type { Json } from '../../ports/engine-store.ts';
import type { UserDocuments } from '../../ports/user-documents.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

interface Key {
  readonly user: string;
  readonly kind: string;
  readonly name: string;
}

const DOCUMENT = prepareQuery((db, { user, kind, name }: Key) =>
  db
    .selectFrom('document')
    .select('body')
    .where('user_id', '=', user)
    .where('kind', '=', kind)
    .where('name', '=', name)
    .compile(),
);

const NAMES = prepareQuery((db, { user, kind }: Omit<Key, 'name'>) =>
  db.selectFrom('document').select('name').where('user_id', '=', user).where('kind', '=', kind).compile(),
);

export function documentStore(connection: StoreConnection): UserDocuments {
  return {
    document: (user, kind, name) =>
      connection.read(`read the ${kind} "${name}"`, async (db) => {
        const row = await DOCUMENT.first(db, { user, kind, name });
        return row === undefined ? null : (JSON.parse(row.body) as Json);
      }),
    documents: (user, kind) =>
      connection.read(`list documents of the kind "${kind}"`, async (db) => {
        const rows = await db
          .selectFrom('document')
          .select(['name', 'body'])
          .where('user_id', '=', user)
          .where('kind', '=', kind)
          .orderBy('name')
          .execute();
        return rows.map(({ name, body }) => ({ name, body: JSON.parse(body) as Json }));
      }),
    putDocument: (user, { kind, name, body }, countMax) =>
      connection.write(`store the ${kind} "${name}"`, async (transaction) => {
        const names = await NAMES.all(transaction, { user, kind });
        const isNew = !names.some((row) => row.name === name);
        if (isNew && names.length >= countMax) return false;
        await put(transaction, { user, kind, name }, body);
        return true;
      }),
    removeDocument: (user, kind, name) =>
      connection.write(`remove the ${kind} "${name}"`, (transaction) =>
        remove(transaction, { user, kind, name }),
      ),
    renameDocument: (user, kind, { from, to }) =>
      connection.write(`rename the ${kind} "${from}"`, async (transaction) => {
        const row = await DOCUMENT.first(transaction, { user, kind, name: from });
        if (row === undefined) return 'missing';
        if (from === to) return 'renamed';
        if ((await DOCUMENT.first(transaction, { user, kind, name: to })) !== undefined) return 'taken';
        await remove(transaction, { user, kind, name: from });
        await put(transaction, { user, kind, name: to }, JSON.parse(row.body) as Json);
        return 'renamed';
      }),
  };
}

async function put(transaction: Transaction<Tables>, key: Key, body: Json): Promise<void> {
  const text = JSON.stringify(body);
  await transaction
    .insertInto('document')
    .values({ user_id: key.user, kind: key.kind, name: key.name, body: text })
    .onConflict((conflict) => conflict.columns(['user_id', 'kind', 'name']).doUpdateSet({ body: text }))
    .execute();
}

async function remove(transaction: Transaction<Tables>, key: Key): Promise<boolean> {
  const removed = await transaction
    .deleteFrom('document')
    .where('user_id', '=', key.user)
    .where('kind', '=', key.kind)
    .where('name', '=', key.name)
    .returning('name')
    .execute();
  return removed.length > 0;
}
