/**
 * Placement and capacity: every call is one transaction, and only one runs at a time.
 * Owns reserving and recording; the choice itself is the pure `place` of the core (D16).
 */
import type { Transaction } from 'kysely';
import type { SandboxId } from '../../core/ids.ts';
import { describePin, NO_HOSTS } from '../../core/placement/choose-host.ts';
import type { TakenSlots } from '../../core/placement/line.ts';
import { longestIdle } from '../../core/placement/longest-idle.ts';
import type { Placement, PlacementDecision } from '../../core/placement/place.ts';
import { mayAskAgain, placeWithPool } from '../../core/placement/place-in-pool.ts';
import { leavesLine, passesSlotOn, withoutSlot, type NoSlot } from '../../core/placement/slot-choice.ts';
import type { PlaceOutcome, PlaceRequest, PlacementStore, SlotOutcome } from '../../ports/placement-store.ts';
import { linePositions, nextInLine, takeSlot } from './capacity.ts';
import { flag } from '../sql/column-value.ts';
import { holdLock, type StoreConnection } from '../sql/connection.ts';
import { hostToReturnTo } from './host-of-sandbox.ts';
import { slotHolders } from './longest-idle.ts';
import { candidates } from './placement-candidates.ts';
import { claim, detach, drainIfEmpty } from './placement-claim.ts';
import { countInPool, hasLeftPool, joinPool } from './placement-pool.ts';
import {
  recordDecision,
  recordedDecision,
  recordedPlacement,
  recordRefusal,
  refused,
} from './placement-record.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import { hasGivenUp, isWanted } from './wanted-slot.ts';
import { joinLine, leaveLine, slotsOfRun } from './slot-line.ts';
import { reserveSandbox } from './reserve-sandbox.ts';
import { recordReserved } from './reserved-sandbox.ts';
import type { Tables } from '../schema/tables.ts';
import { isDeleted } from '../engine/tombstone.ts';
import { claimWarm, fitsWarm, type WarmClaimOutcome } from './warm-claim.ts';

export function placementStore(connection: StoreConnection): PlacementStore {
  const alone = <T>(action: string, work: (transaction: Transaction<Tables>) => Promise<T>): Promise<T> =>
    connection.write(action, async (transaction) => {
      await holdLock(connection, transaction, 'placement');
      return work(transaction);
    });
  return {
    place: (request) =>
      alone(`place the conversation "${request.conversationId}"`, (transaction) =>
        placeConversation(connection, transaction, request),
      ),
    reserveSandbox: (request) =>
      alone(`reserve the sandbox "${request.sandboxId}"`, (transaction) =>
        reserveSandbox(transaction, request),
      ),
    reserveSlot: (request) =>
      alone(`reserve a slot for the sandbox "${request.sandboxId}"`, (transaction) =>
        reserveSlot(transaction, request),
      ),
    claim: (request) =>
      alone(`claim the sandbox "${request.sandboxId}"`, (transaction) => claim(transaction, request)),
    detach: (id) =>
      alone(`detach the conversation "${id}"`, (transaction) => detach(connection, transaction, id)),
    nextInLine: ({ limits, now }) =>
      connection.read('see who is next in the line for a slot', (db) => nextInLine(db, limits, now)),
    positions: ({ limits, now }) =>
      connection.read('see who stands where in the line for a slot', (db) => linePositions(db, limits, now)),
    longestIdle: (userId, wanted, hosts) =>
      connection.read('find the longest idle sandbox', async (db) =>
        longestIdle(await slotHolders(db, userId), { wanted, hosts }),
      ),
    decision: (id) =>
      connection.read(`read the placement of the conversation "${id}"`, (db) => recordedDecision(db, id)),
  };
}

/** One placement, inside a transaction that holds the placement lock. */
export async function placeConversation(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  request: PlaceRequest,
): Promise<PlaceOutcome> {
  const { conversationId } = request;
  return (await isDeleted(connection, transaction, conversationId))
    ? refused('not_found', `Cannot place the conversation "${conversationId}": it was deleted`)
    : placeOnce(connection, transaction, request);
}

async function placeOnce(
  connection: StoreConnection,
  transaction: Transaction<Tables>,
  request: PlaceRequest,
): Promise<PlaceOutcome> {
  const { conversationId, excluded } = request;
  const recorded = await recordedPlacement(transaction, conversationId);
  const isMoved = recorded?.kind === 'placed' && excluded.includes(recorded.sandboxId);
  if (isMoved) await LEAVE.all(transaction, { id: conversationId });
  const found = await outcomeOf(transaction, request, isMoved ? null : recorded);
  if (found.kind === 'warm_lost') return found;
  const stood = request.waits === true && leavesLine(found) && (await leaveLine(transaction, conversationId));
  const outcome: PlaceOutcome = passesSlotOn(stood, found) ? { ...found, leftLine: true } : found;
  // By the last excluded sandbox and not by `isMoved`, so that a repeat of this call gives the same answer.
  const last = excluded.at(-1);
  if (last === undefined || !(await drainIfEmpty(connection, transaction, last))) return outcome;
  return { ...outcome, leftBehind: last };
}

async function outcomeOf(
  transaction: Transaction<Tables>,
  request: PlaceRequest,
  recorded: PlaceOutcome | null,
): Promise<PlaceOutcome> {
  const { conversationId, onlyLeaves = false } = request;
  if (recorded !== null && !onlyLeaves) return recorded;
  const outcome = onlyLeaves
    ? refused('placement_failed', `Cannot place the conversation "${conversationId}": no sandbox accepted it`)
    : await placeAnew(transaction, request);
  const isFinal = request.isFinal === true;
  if (outcome.kind === 'refused' && isFinal && !mayAskAgain(outcome.refusal, request.pool))
    await recordRefusal(transaction, conversationId, outcome.refusal);
  return outcome;
}

async function placeAnew(transaction: Transaction<Tables>, request: PlaceRequest): Promise<PlaceOutcome> {
  const { pool, conversationId, host, limits } = request;
  // An explicit placement already fixes the host.
  if (host !== undefined && limits.hosts === undefined && request.sandboxId === null)
    return refused('placement_failed', `Cannot place the conversation on ${describePin(host)}: ${NO_HOSTS}`);
  if (pool !== undefined && (await hasLeftPool(transaction, pool, conversationId)))
    return refused('not_found', `Cannot place the conversation "${conversationId}": its attempt is over`);
  if (await hasGivenUp(transaction, conversationId))
    return refused('not_found', `Cannot place the conversation "${conversationId}": its start is over`);
  const question = {
    userId: request.userId,
    strategy: request.strategy,
    explicit: request.sandboxId,
    excluded: request.excluded,
    candidates: await candidates(transaction, request),
    conversationsPerSandboxMax: request.limits.conversationsPerSandboxMax,
    host,
    now: request.now,
  };
  const placement = placeWithPool(question, pool);
  switch (placement.kind) {
    case 'refused':
      return placement;
    case 'existing':
      return attach(transaction, request, {
        sandboxId: placement.sandboxId,
        decision: placement.decision,
        created: false,
      });
    case 'new':
      return placeInNew(transaction, request, placement);
  }
}

/** Nothing is accepted when no slot is free (D17). */
async function placeInNew(
  transaction: Transaction<Tables>,
  request: PlaceRequest,
  { decision, otherwise }: Extract<Placement, { readonly kind: 'new' }>,
): Promise<PlaceOutcome> {
  const taken = await takeNew(transaction, request);
  if (taken.kind === 'warm_lost') return taken;
  if (taken.kind !== 'taken') {
    const { host, waits = false } = request;
    const instead = withoutSlot(taken, { otherwise, waits, host });
    if (instead.kind === 'refused') return instead;
    if (instead.kind === 'waits') return wait(transaction, request, instead.slots);
    const shared = { ...decision, chosen: instead.sandboxId };
    return attach(transaction, request, { sandboxId: instead.sandboxId, decision: shared, created: false });
  }
  const { sandboxId: id, ...warmth } = taken.of;
  const { pool } = request;
  if (pool !== undefined && isInPool(decision)) await joinPool(transaction, id, pool.poolId);
  return attach(transaction, request, { sandboxId: id, decision: { ...decision, ...warmth }, created: true });
}

type Taken =
  | {
      readonly kind: 'taken';
      /** `bootedAt`: of a warm sandbox, which is up already and becomes the user's with this transaction. */
      readonly of: { readonly sandboxId: SandboxId; readonly bootedAt?: number };
    }
  | Exclude<WarmClaimOutcome, { readonly kind: 'claimed' }>
  | NoSlot;

async function takeNew(transaction: Transaction<Tables>, request: PlaceRequest): Promise<Taken> {
  const { newSandboxId, userId, limits, now, warm, conversationId: waiterId } = request;
  if (warm !== undefined && (await fitsWarm(transaction, warm, request.host))) {
    const claimed = await claimWarm(transaction, { ...request, warm, waiterId, createdBy: 'placement' });
    if (claimed.kind !== 'claimed') return claimed;
    return { kind: 'taken', of: { sandboxId: warm, bootedAt: claimed.bootedAt } };
  }
  const host = limits.hosts === undefined ? undefined : { ...limits.hosts, ...request.host };
  const slot = await takeSlot(transaction, { sandboxId: newSandboxId, userId, limits, now, waiterId, host });
  if (slot.kind !== 'granted') return slot;
  const reserved = { sandboxId: newSandboxId, userId, createdBy: 'placement', now, host: slot.host } as const;
  await recordReserved(transaction, reserved);
  return { kind: 'taken', of: { sandboxId: newSandboxId } };
}

async function wait(
  transaction: Transaction<Tables>,
  { conversationId: waiterId, userId, runId, host, now }: PlaceRequest,
  slots: Omit<TakenSlots, 'ofRun'>,
): Promise<PlaceOutcome> {
  await joinLine(transaction, { waiterId, machine: 'conversation', userId, host }, now);
  const ofRun = runId === undefined ? null : await slotsOfRun(transaction, runId);
  return { kind: 'waits', slots: { ...slots, ofRun } };
}

/** A refused conversation was never in the sandbox: the last one to leave must find itself the last. */
const LEAVE = prepareQuery((db, { id }: { readonly id: string }) =>
  db.deleteFrom('attachment').where('conversation_id', '=', id).compile(),
);

type Attachment = Record<'conversation_id' | 'sandbox_id', string> &
  Record<'attached_at' | 'detached' | 'pool_place', number>;

const ATTACH = prepareQuery((db, row: Attachment) =>
  db
    .insertInto('attachment')
    .values(row)
    .onConflict((conflict) =>
      conflict.column('conversation_id').doUpdateSet(({ ref }) => ({
        sandbox_id: ref('excluded.sandbox_id'),
        attached_at: ref('excluded.attached_at'),
        detached: ref('excluded.detached'),
        pool_place: ref('excluded.pool_place'),
      })),
    )
    .compile(),
);

/** Also moves a conversation that the recorded sandbox refused: it is never attached to two. */
async function attach(
  transaction: Transaction<Tables>,
  request: PlaceRequest,
  chosen: { readonly sandboxId: SandboxId; readonly decision: PlacementDecision; readonly created: boolean },
): Promise<PlaceOutcome> {
  const { conversationId, now, pool } = request;
  const { sandboxId: sandbox_id, created, decision } = chosen;
  const pool_place = flag(isInPool(decision));
  const attachment = {
    conversation_id: conversationId,
    sandbox_id,
    attached_at: now,
    detached: 0,
    pool_place,
  };
  await ATTACH.all(transaction, attachment);
  if (pool !== undefined && isInPool(decision))
    await countInPool(transaction, {
      id: sandbox_id,
      conversation: conversationId,
      affinity: pool.affinity,
    });
  await recordDecision(transaction, conversationId, { created, decision });
  return { kind: 'placed', sandboxId: chosen.sandboxId, created: chosen.created, decision: chosen.decision };
}

function isInPool({ pool }: PlacementDecision): boolean {
  return pool !== undefined && !pool.spilled;
}

/** The slot of a resume, or a place in the line. */
async function reserveSlot(
  transaction: Transaction<Tables>,
  request: Parameters<PlacementStore['reserveSlot']>[0],
): Promise<SlotOutcome> {
  const { sandboxId: waiterId, userId, waits, now } = request;
  if (!(await isWanted(transaction, request))) return { kind: 'not_wanted' };
  const host = await hostToReturnTo(transaction, waiterId);
  const taken = await takeSlot(transaction, { ...request, waiterId, host });
  const home = host === undefined ? {} : { host: { name: host.name, alsoDraining: true } };
  // Its host is unknown by now, or has another runtime.
  if (taken.kind === 'no_host') return { kind: 'refused', limit: 0, current: 0 };
  if (taken.kind === 'refused' && waits) {
    await joinLine(transaction, { waiterId, machine: 'sandbox', userId, ...home }, now);
    const { kind: _kind, ...slots } = taken;
    return { kind: 'waits', slots: { ...slots, ofRun: null } };
  }
  if (waits) await leaveLine(transaction, waiterId);
  return taken.kind === 'granted' ? { kind: 'granted' } : taken;
}
