/**
 * Slots: how many sandboxes may have their runtime up (D17).
 * Owns the count and the refusal, inside a transaction that holds the placement lock. Only projections give slots
 * back.
 */
import type { Insertable, Kysely, Transaction } from 'kysely';
import type { SandboxId, UserId } from '../../core/ids.ts';
import { chooseHost, type HostRequirement } from '../../core/placement/choose-host.ts';
import { hostSeats, type HostSeats, type TakeSeat } from '../../core/placement/host-seats.ts';
import {
  fullSlots,
  positionsOf,
  slotReadyFor,
  type FullSlots,
  type SlotCounts,
  type Waiter,
} from '../../core/placement/line.ts';
import { slotOn, type SlotChoice } from '../../core/placement/slot-choice.ts';
import type { CapacityLimits } from '../../ports/placement-store.ts';
import { safeInteger } from '../sql/column-value.ts';
import { hostCandidates } from './host-store.ts';
import { prepareQuery } from '../sql/prepared-query.ts';
import { slotLine, slotsByUser } from './slot-line.ts';
import type { Tables } from '../schema/tables.ts';

export interface SlotRequest {
  readonly sandboxId: SandboxId;
  readonly userId: UserId;
  readonly limits: CapacityLimits;
  readonly now: number;
  /** The waiter in the line that requests it; absent for none. */
  readonly waiterId?: string | undefined;
  /** Where the sandbox is to live; absent: bound to no host. */
  readonly host?: HostRequirement | undefined;
}

/** Takes a slot; holding one already is success. A slot reserved for the line includes a seat on a host (D29). */
export async function takeSlot(transaction: Transaction<Tables>, request: SlotRequest): Promise<SlotChoice> {
  const { sandboxId, userId, now } = request;
  const taken = await countSlots(transaction, request);
  if (taken.own > 0) return { kind: 'granted' };
  const ahead = await lineAhead(transaction, request, taken);
  const refusal = await refusalOf(transaction, request, { taken, ahead });
  if (refusal !== null) return refusal;
  const room = roomOnHost(request, ahead);
  if (room.kind !== 'granted') return room;
  const { host = null } = room;
  await TAKE.all(transaction, { sandbox_id: sandboxId, user_id: userId, taken_at: now, host });
  return room;
}

/** The waiters before a given one in the line, and the hosts on which they get seats first. */
interface Ahead {
  readonly waiters: readonly Waiter[];
  readonly seats: HostSeats;
}

async function lineAhead(
  transaction: Transaction<Tables>,
  { waiterId, limits, host, now }: SlotRequest,
  { inLine }: Counted,
): Promise<Ahead> {
  const line = inLine === 0 ? [] : await slotLine(transaction, now);
  const place = line.findIndex((waiter) => waiter.waiterId === waiterId);
  const waiters = place < 0 ? line : line.slice(0, place);
  const needsHosts = host !== undefined || (limits.hosts !== undefined && waiters.length > 0);
  const hosts = needsHosts ? await hostCandidates(transaction) : [];
  return { waiters, seats: hostSeats(hosts, limits.hosts) };
}

function roomOnHost({ host: required }: SlotRequest, { waiters, seats }: Ahead): SlotChoice {
  if (required === undefined) return { kind: 'granted' };
  return slotOn(chooseHost(required, seats.left()), waiters.length + 1);
}

/** Null when a sandbox of the warm pool, which holds its slot already, may become the user's. */
export async function warmRefusal(
  transaction: Transaction<Tables>,
  request: SlotRequest,
): Promise<FullSlots | null> {
  const { installationMax } = request.limits;
  const limits = { ...request.limits, installationMax: installationMax + 1 };
  const taken = await countSlots(transaction, request);
  const ahead = await lineAhead(transaction, request, taken);
  return refusalOf(transaction, { ...request, limits }, { taken, ahead });
}

async function refusalOf(
  transaction: Transaction<Tables>,
  { userId, limits, waiterId = '' }: SlotRequest,
  { taken, ahead }: { readonly taken: Counted; readonly ahead: Ahead },
): Promise<FullSlots | null> {
  const isFull = taken.user >= limits.userMax || taken.installation >= limits.installationMax;
  // The usual case, without a count by user.
  if (ahead.waiters.length === 0 && !isFull) return null;
  const own = { waiterId, userId };
  // The waiter's own host is checked once there is a slot, because a missing host gives another answer.
  const takeSeat: TakeSeat = (waiter) => waiter === own || ahead.seats.take(waiter);
  return fullSlots(own, ahead.waiters, { ...(await slotCounts(transaction, limits)), takeSeat });
}

/** The waiters in the line for whom there is a slot now. */
export async function nextInLine(
  db: Kysely<Tables>,
  limits: CapacityLimits,
  now: number,
): Promise<readonly Waiter[]> {
  const line = await slotLine(db, now);
  return line.length === 0 ? [] : slotReadyFor(line, await seatedCounts(db, limits));
}

export async function linePositions(
  db: Kysely<Tables>,
  limits: CapacityLimits,
  now: number,
): Promise<ReadonlyMap<string, number>> {
  const line = await slotLine(db, now);
  return line.length === 0 ? new Map() : positionsOf(line, await seatedCounts(db, limits));
}

async function seatedCounts(db: Kysely<Tables>, limits: CapacityLimits): Promise<SlotCounts> {
  const hosts = limits.hosts === undefined ? [] : await hostCandidates(db);
  return { ...(await slotCounts(db, limits)), takeSeat: hostSeats(hosts, limits.hosts).take };
}

async function slotCounts(
  db: Kysely<Tables>,
  { installationMax, userMax }: CapacityLimits,
): Promise<SlotCounts> {
  const byUser = await slotsByUser(db);
  const taken = [...byUser.values()].reduce((sum, count) => sum + count, 0);
  return { installationMax, userMax, taken, takenBy: (user) => byUser.get(user) ?? 0 };
}

/** Gives an existing slot to another user: the installation has as many as before. */
export async function takeOverSlot(transaction: Transaction<Tables>, request: SlotRequest): Promise<void> {
  const { sandboxId, userId, now } = request;
  await TAKE_OVER.all(transaction, { sandboxId, userId, now });
}

const TAKE_OVER = prepareQuery((db, { sandboxId, userId, now }: SlotOwner & { readonly now: number }) =>
  db
    .updateTable('slot')
    .set({ user_id: userId, taken_at: now })
    .where('sandbox_id', '=', sandboxId)
    .compile(),
);

const TAKE = prepareQuery((db, row: Insertable<Tables['slot']>) =>
  db.insertInto('slot').values(row).compile(),
);

/** Counts without a condition on other columns: each is answered from an index alone. */
const COUNT = prepareQuery((db, { sandboxId, userId }: SlotOwner) =>
  db
    .selectNoFrom((from) => [
      from
        .selectFrom('slot')
        .select(({ fn }) => fn.countAll().as('count'))
        .as('installation'),
      from
        .selectFrom('slot')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('user_id', '=', userId)
        .as('user'),
      from
        .selectFrom('slot')
        .select(({ fn }) => fn.countAll().as('count'))
        .where('sandbox_id', '=', sandboxId)
        .as('own'),
      from
        .selectFrom('slot_line')
        .select(({ fn }) => fn.countAll().as('count'))
        .as('line'),
    ])
    .compile(),
);

interface SlotOwner {
  readonly sandboxId: SandboxId;
  readonly userId: UserId;
}

interface Counted {
  readonly installation: number;
  readonly user: number;
  readonly own: number;
  /** Entries in the line, including waiters that have left. */
  readonly inLine: number;
}

async function countSlots(
  transaction: Transaction<Tables>,
  { sandboxId, userId }: SlotOwner,
): Promise<Counted> {
  const row = await COUNT.first(transaction, { sandboxId, userId });
  const count = (value: number | bigint | string | null | undefined): number => safeInteger(value ?? 0);
  const { installation, user, own, line } = row ?? {};
  return { installation: count(installation), user: count(user), own: count(own), inLine: count(line) };
}
