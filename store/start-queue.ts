/**
 * Starts over the API that have no place yet, as they stand in the store.
 * Owns the queries; whose turn it is says core/start-queue.ts. A run lets its own items wait, so they are none of these.
 */
import type { Kysely } from 'kysely';
import { conversationId, userId, type ConversationId } from '../core/ids.ts';
import { WAITING_STARTS_MAX } from '../core/limits.ts';
import type { PlacementRefusal } from '../core/place.ts';
import { queuePositions, slotsIn, type StartQueue } from '../core/start-queue.ts';
import type { PlaceRequest } from '../ports/placement-store.ts';
import { safeInteger } from './column-value.ts';
import { prepareQuery } from './prepared-query.ts';
import type { Tables } from './tables.ts';

/** More than may be let in: a deployment that is changed to a queue may have others from before. */
const SEEN_MAX = 2 * WAITING_STARTS_MAX;

/** A start is at work until it is over; one without a sandbox waits for its place. In the order of acceptance. */
const WAITING = prepareQuery((db, { limit }: { readonly limit: number }) =>
  db
    .selectFrom('conversation')
    .innerJoin('start_task', 'start_task.conversation_id', 'conversation.conversation_id')
    .select(['conversation.conversation_id', 'conversation.user_id'])
    .where('conversation.sandbox_id', 'is', null)
    .where('conversation.at_work', '=', 1)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('attachment')
            .select('attachment.conversation_id')
            .whereRef('attachment.conversation_id', '=', 'conversation.conversation_id')
            .where('attachment.detached', '=', 0),
        ),
      ),
    )
    .orderBy('start_task.created_at')
    .orderBy('start_task.task_id')
    .limit(limit)
    .compile(),
);

const TAKEN = prepareQuery((db, _: object) =>
  db
    .selectFrom('slot')
    .select(({ fn }) => ['user_id', fn.countAll().as('count')])
    .groupBy('user_id')
    .compile(),
);

export async function startQueue(db: Kysely<Tables>): Promise<StartQueue> {
  const waiting = await WAITING.all(db, { limit: SEEN_MAX });
  const taken = await TAKEN.all(db, {});
  return {
    waiting: waiting.map((row) => ({
      conversationId: conversationId(row.conversation_id),
      userId: userId(row.user_id),
    })),
    taken: new Map(taken.map((row) => [row.user_id, safeInteger(row.count)])),
  };
}

const UNDELIVERED = prepareQuery((db, _: object) =>
  db
    .selectFrom('start_task')
    .select(({ fn }) => fn.countAll().as('count'))
    .where('delivered', '=', 0)
    .compile(),
);

/** Starts that wait, with those whose machine has not spoken yet. */
export async function countWaiting(db: Kysely<Tables>): Promise<number> {
  const waiting = await WAITING.all(db, { limit: SEEN_MAX });
  const undelivered = await UNDELIVERED.first(db, {});
  return waiting.length + safeInteger(undelivered?.count ?? 0);
}

const RECORD = prepareQuery((db, { id }: { readonly id: string }) =>
  db
    .selectFrom('conversation')
    .select(['at_work', 'sandbox_id', 'run_id'])
    .where('conversation_id', '=', id)
    .compile(),
);

/** Its start is over and it was never placed: a slot would be taken for nobody. */
export async function hasGivenUp(db: Kysely<Tables>, id: ConversationId): Promise<boolean> {
  const row = await RECORD.first(db, { id });
  return row !== undefined && row.at_work === 0 && row.sandbox_id === null;
}

/** Null when it is the turn of whoever asks; else what it waits for. One of the warm pool has its slot already. */
export async function waitFor(
  db: Kysely<Tables>,
  { conversationId: asks, userId: user, limits, warm }: PlaceRequest,
): Promise<Required<NonNullable<PlacementRefusal['slots']>> | null> {
  const record = await RECORD.first(db, { id: asks });
  if (record !== undefined && record.run_id !== null) return null;
  const { waiting, taken } = await startQueue(db);
  const isKnown = waiting.some(({ conversationId: id }) => id === asks);
  const queue = isKnown ? waiting : [...waiting, { conversationId: asks, userId: user }];
  const installationMax = limits.installationMax + (warm === undefined ? 0 : 1);
  const position = queuePositions({ waiting: queue, taken }, { ...limits, installationMax }).get(asks);
  if (position === undefined) return null;
  const own = taken.get(user) ?? 0;
  if (own >= limits.userMax) return { limit: limits.userMax, current: own, position };
  return { limit: limits.installationMax, current: slotsIn(taken), position };
}
