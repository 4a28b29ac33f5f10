/**
 * What happened to conversations and sandboxes outside the agent.
 * Owns that a repeat of the same fact at the same instant is stored once; must not word anything.
 */
import type { ConversationId, RunId } from '../../core/ids.ts';
import type { Selectable } from 'kysely';
import type { LifecycleEvent } from '../../core/machine/projection.ts';
import type { LifecycleLog, RunLog } from '../../ports/record-store.ts';
import { columnText, safeInteger } from '../sql/column-value.ts';
import type { StoreConnection } from '../sql/connection.ts';
import { address } from '../engine/entity-address.ts';
import { isDeleted } from '../engine/tombstone.ts';
import type { Tables } from '../schema/tables.ts';

export function lifecycleLog(connection: StoreConnection): LifecycleLog & RunLog {
  return {
    record: (event, at) => record(connection, event, at),
    lifecycleEvents: (id) => lifecycleEvents(connection, id),
    runEvents: (id) => runEvents(connection, id),
  };
}

/** Facts about a deleted conversation are dropped, like its events (D11). */
function record(connection: StoreConnection, event: LifecycleEvent, at: number): Promise<void> {
  const row = {
    conversation_id: event.conversationId,
    machine: event.about.machine,
    id: event.about.id,
    code: columnText(event.code),
    detail: columnText(event.detail),
    at,
  };
  return connection.write('record a lifecycle event', async (transaction) => {
    const { conversationId } = event;
    if (conversationId !== null && (await isDeleted(connection, transaction, conversationId))) return;
    const known = await transaction
      .selectFrom('lifecycle_event')
      .select('position')
      .where('conversation_id', conversationId === null ? 'is' : '=', conversationId)
      .where('machine', '=', row.machine)
      .where('id', '=', row.id)
      .where('code', '=', row.code)
      .where('detail', '=', row.detail)
      .where('at', '=', at)
      .executeTakeFirst();
    if (known === undefined) await transaction.insertInto('lifecycle_event').values(row).execute();
  });
}

async function lifecycleEvents(
  connection: StoreConnection,
  id: ConversationId,
): Promise<readonly (LifecycleEvent & { readonly at: number })[]> {
  const rows = await connection.read(`read the lifecycle events of the conversation "${id}"`, (db) =>
    db
      .selectFrom('lifecycle_event')
      .selectAll()
      .where('conversation_id', '=', id)
      .orderBy('position')
      .execute(),
  );
  return rows.map((row) => eventOf(row, id));
}

async function runEvents(
  connection: StoreConnection,
  id: RunId,
): Promise<readonly (LifecycleEvent & { readonly at: number })[]> {
  const rows = await connection.read(`read the lifecycle events of the run "${id}"`, (db) =>
    db
      .selectFrom('lifecycle_event')
      .selectAll()
      .where('conversation_id', 'is', null)
      .where('machine', '=', 'run')
      .where('id', '=', id)
      .orderBy('position')
      .execute(),
  );
  return rows.map((row) => eventOf(row, null));
}

function eventOf(
  row: Selectable<Tables['lifecycle_event']>,
  conversationId: ConversationId | null,
): LifecycleEvent & { readonly at: number } {
  const { code, detail } = row;
  return { about: address(row), conversationId, code, detail, at: safeInteger(row.at) };
}
