/**
 * The answers of placement to each conversation, so that a repeat gets the same one.
 * Owns the record of decisions and of final refusals; must not decide anything.
 */
import type { Insertable, Kysely, Transaction } from 'kysely';
import { sandboxId, type ConversationId } from '../../core/ids.ts';
import type { PlacementDecision, PlacementRefusal } from '../../core/placement/place.ts';
import type { PlaceOutcome } from '../../ports/placement-store.ts';
import { flag } from '../sql/column-value.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import type { Tables } from '../schema/tables.ts';

/** What `body` holds: the decision, or the final refusal. */
type Recorded = PlacementDecision | PlacementRefusal;

const PUT = prepareQuery((db, row: Insertable<Tables['placement_decision']>) =>
  db
    .insertInto('placement_decision')
    .values(row)
    .onConflict((conflict) =>
      conflict
        .column('conversation_id')
        .doUpdateSet(({ ref }) => ({ created: ref('excluded.created'), body: ref('excluded.body') })),
    )
    .compile(),
);

export async function recordDecision(
  transaction: Transaction<Tables>,
  id: ConversationId,
  { created, decision }: { readonly created: boolean; readonly decision: PlacementDecision },
): Promise<void> {
  await PUT.all(transaction, {
    conversation_id: id,
    created: flag(created),
    body: JSON.stringify(decision),
  });
}

export async function recordRefusal(
  transaction: Transaction<Tables>,
  id: ConversationId,
  refusal: PlacementRefusal,
): Promise<void> {
  await PUT.all(transaction, { conversation_id: id, created: flag(false), body: JSON.stringify(refusal) });
}

const BODY = prepareQuery((db, { id }: { readonly id: string }) =>
  db.selectFrom('placement_decision').select('body').where('conversation_id', '=', id).compile(),
);

/** Null when there is none, or only a refusal. */
export async function recordedDecision(
  db: Kysely<Tables>,
  id: ConversationId,
): Promise<PlacementDecision | null> {
  const row = await BODY.first(db, { id });
  if (row === undefined) return null;
  const recorded = JSON.parse(row.body) as Recorded;
  return isRefusal(recorded) ? null : recorded;
}

const RECORDED = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .selectFrom('placement_decision')
    .leftJoin('attachment', 'attachment.conversation_id', 'placement_decision.conversation_id')
    .select([
      'attachment.sandbox_id',
      'attachment.detached',
      'placement_decision.created',
      'placement_decision.body',
    ])
    .where('placement_decision.conversation_id', '=', id)
    .compile(),
);

/** Null when it may be placed. */
export async function recordedPlacement(
  transaction: Transaction<Tables>,
  id: ConversationId,
): Promise<PlaceOutcome | null> {
  const row = await RECORDED.first(transaction, { id });
  if (row === undefined) return null;
  const recorded = JSON.parse(row.body) as Recorded;
  if (isRefusal(recorded)) return { kind: 'refused', refusal: recorded };
  if (row.sandbox_id === null) return null;
  // The conversation is being deleted: a late placement would take a slot without use (D11).
  if (row.detached === 1) return refused('not_found', `Cannot place the conversation "${id}": it has left`);
  return {
    kind: 'placed',
    sandboxId: sandboxId(row.sandbox_id),
    created: row.created === 1,
    decision: recorded,
  };
}

function isRefusal(recorded: Recorded): recorded is PlacementRefusal {
  return 'code' in recorded;
}

export function refused(code: PlacementRefusal['code'], reason: string): PlaceOutcome {
  return { kind: 'refused', refusal: { code, reason } };
}
