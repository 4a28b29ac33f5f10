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
    lifecycleEvents: (id) => eventsAbout(connection, 'conversation', id),
    runEvents: (id) => eventsAbout(connection, 'run', id),
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

/** Of a conversation, with those of machines that served it; or of a run itself. */
async function eventsAbout(
  connection: StoreConnection,
  machine: 'conversation' | 'run',
  id: ConversationId | RunId,
): Promise<readonly (LifecycleEvent & { readonly at: number })[]> {
  const rows = await connection.read(`read the lifecycle events of the ${machine} "${id}"`, (db) => {
    const query = db.selectFrom('lifecycle_event').selectAll().orderBy('position');
    if (machine === 'conversation') return query.where('conversation_id', '=', id).execute();
    const ofNone = query.where('conversation_id', 'is', null);
    return ofNone.where('machine', '=', 'run').where('id', '=', id).execute();
  });
  return rows.map((row) => eventOf(row, machine === 'run' ? null : (id as ConversationId)));
}

function eventOf(
  row: Selectable<Tables['lifecycle_event']>,
  conversationId: ConversationId | null,
): LifecycleEvent & { readonly at: number } {
  const { code, detail } = row;
  return { about: address(row), conversationId, code, detail, at: safeInteger(row.at) };
}
