/**
 * The tags of conversations as rows that a search goes through.
 * Owns that they say what the newest record says; must not decide which record that is: it compares the same stamps.
 */
import type { Insertable, Transaction } from 'kysely';
import type { ConversationRow } from '../../core/machine/projection.ts';
import { isNewer } from '../../core/machine/snapshot.ts';
import { columnText, safeInteger } from '../sql/column-value.ts';
import { prepareRows } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

type Keys = readonly { readonly id: string }[];

/** A record as it lies there; of a conversation that was deleted (D11) only that it was. */
export interface StoredRecord {
  readonly conversation_id: string;
  readonly generation: number | bigint | string | null;
  readonly sequence: number | bigint | string | null;
  readonly body: string | null;
}

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

const ADD = prepareRows((db, rows: readonly Insertable<Tables['conversation_tag']>[]) =>
  db.insertInto('conversation_tag').values(rows).compile(),
);

/** To be called before the records themselves are written, in the same transaction, with those that were there. */
export async function writeTags(
  transaction: Transaction<Tables>,
  rows: readonly ConversationRow[],
  stored: readonly StoredRecord[],
): Promise<void> {
  const known = new Map(stored.map((row) => [row.conversation_id, row]));
  const changed = rows.filter((row) => {
    const { generation = null, sequence = null, body = null } = known.get(row.conversationId) ?? {};
    if (generation === null || sequence === null || body === null) return Object.keys(row.tags).length > 0;
    const stamp = { generation: safeInteger(generation), sequence: safeInteger(sequence) };
    return isNewer(row, stamp) && !hasTags(body, row.tags);
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
