/**
 * The tags of conversations as rows that a search goes through.
 * Owns that they say what the newest record says; must not decide which record that is: it compares the same stamps.
 */
import type { Insertable, Transaction } from 'kysely';
import type { ConversationRow } from '../../core/machine/projection.ts';
import { isNewer } from '../../core/machine/snapshot.ts';
import { columnText, safeInteger } from '../sql/column-value.ts';
import { prepareRows } from '../sql/prepared-query.ts';
import type { ConversationTagTable, Tables } from '../schema/tables.ts';

type Keys = readonly { readonly id: string }[];

const STORED = prepareRows((db, keys: Keys) =>
  db
    .selectFrom('conversation')
    .select(['conversation_id', 'generation', 'sequence', 'body'])
    .where(
      'conversation_id',
      'in',
      keys.map(({ id }) => id),
    )
    .compile(),
);

const REMOVE = prepareRows((db, keys: Keys) =>
  db
    .deleteFrom('conversation_tag')
    .where(
      'conversation_id',
      'in',
      keys.map(({ id }) => id),
    )
    .compile(),
);

const ADD = prepareRows((db, rows: readonly Insertable<ConversationTagTable>[]) =>
  db.insertInto('conversation_tag').values(rows).compile(),
);

/** To be called before the records themselves are written, in the same transaction. */
export async function writeTags(
  transaction: Transaction<Tables>,
  rows: readonly ConversationRow[],
): Promise<void> {
  if (rows.length === 0) return;
  const stored = await STORED.execute(
    transaction,
    rows.map(({ conversationId: id }) => ({ id })),
  );
  const known = new Map(stored.map((row) => [row.conversation_id, row]));
  const changed = rows.filter((row) => {
    const before = known.get(row.conversationId);
    if (before === undefined) return Object.keys(row.tags).length > 0;
    const stamp = { generation: safeInteger(before.generation), sequence: safeInteger(before.sequence) };
    return isNewer(row, stamp) && !hasTags(before.body, row.tags);
  });
  await REMOVE.execute(
    transaction,
    changed.map(({ conversationId: id }) => ({ id })),
  );
  await ADD.execute(transaction, changed.flatMap(tagRows));
}

/** Tags are written with every record, and change almost never: a look at the text saves the parsing. */
function hasTags(body: string, tags: ConversationRow['tags']): boolean {
  return body.includes(`"tags":${JSON.stringify(tags)},`);
}

function tagRows({ conversationId, userId, createdAt, tags }: ConversationRow) {
  return Object.entries(tags).map(([key, value]) => ({
    conversation_id: conversationId,
    key: columnText(key),
    value: columnText(value),
    user_id: userId,
    created_at: createdAt,
  }));
}
