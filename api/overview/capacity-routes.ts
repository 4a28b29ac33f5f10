/**
 * Capacity in use: slots by user, who waits for one and why, the warm pool.
 * Owns the routes; a user sees the sum of all and its own, an administrator everybody.
 */
import { z } from 'zod';
import { NO_USER } from '../../core/placement/warm-pool.ts';
import type { LinePlace } from '../../ports/overview.ts';
import type { CapacityLimits } from '../../ports/placement-store.ts';
import { answerPage, pageRequest } from '../application/cursor.ts';
import { route } from '../application/route.ts';
import { whoseRecords } from '../application/application.ts';
import { instantOut, isoInstant, limitIn, pageIdIn, pageOf } from '../application/wire.ts';

const slotsSchema = z.object({ taken: z.int(), max: z.int() });

const capacitySchema = z
  .object({
    installation: slotsSchema.meta({ description: 'Of everybody, the warm pool included.' }),
    users: z
      .array(slotsSchema.extend({ user_id: z.string() }))
      .meta({ description: 'At most 100, who has most first; a user sees itself alone.' }),
    waiting: z.int().meta({ description: 'Who stands in the line for a slot, of everybody.' }),
    on_full: z.enum(['refuse', 'queue', 'pause_longest_idle']),
    warm_pool: z
      .object({ wanted: z.int(), booting: z.int(), ready: z.int(), leaving: z.int() })
      .nullable()
      .meta({ description: 'Null where none is kept.' }),
  })
  .meta({ id: 'Capacity' });

const waitingSchema = z
  .object({
    id: z.string().meta({ description: 'Of the conversation or sandbox that waits.' }),
    kind: z.enum(['conversation', 'sandbox']),
    title: z.string().nullable(),
    user_id: z.string(),
    run_id: z.string().nullable(),
    position: z
      .int()
      .nullable()
      .meta({ description: '1 for the next; null for one that may have a slot now.' }),
    reason: z.enum(['user_limit', 'installation_limit', 'has_its_turn']),
    asked_at: instantOut.meta({ description: 'When it last asked for its slot.' }),
  })
  .meta({ id: 'WaitingForSlot' });

export const CAPACITY_ROUTES = [
  route({
    method: 'GET',
    url: '/api/v1/capacity',
    operation: 'get_capacity',
    summary: 'Slots in use by user, how many wait for one, and the warm pool.',
    access: 'key',
    result: capacitySchema,
    handler: async ({ application, caller }) => {
      const { world, overview } = application;
      const { capacity: limits, onFull, warmPool } = world.deployment;
      const now = world.clock.now();
      const { taken, holders, waiting } = await overview.capacity({ userId: whoseRecords(caller), now });
      const own = holders.some(({ userId }) => userId === caller.userId)
        ? []
        : [{ userId: caller.userId, taken: 0 }];
      const wanted = warmPool?.size ?? 0;
      const figures = await world.warmPool.figures();
      const isKept = wanted + figures.booting + figures.ready + figures.leaving > 0;
      return {
        installation: { taken, max: limits.installationMax },
        users: [...holders, ...own]
          .filter(({ userId }) => userId !== NO_USER)
          .map((holder) => ({ user_id: holder.userId, taken: holder.taken, max: limits.userMax })),
        waiting,
        on_full: onFull,
        warm_pool: isKept ? { wanted, ...figures } : null,
      };
    },
  }),
  route({
    method: 'GET',
    url: '/api/v1/capacity/waiting/search',
    operation: 'search_waiting',
    summary: 'Who waits for a slot, in the order of the line, and why.',
    access: 'key',
    query: z.object({ page_id: pageIdIn, limit: limitIn }),
    result: pageOf(waitingSchema),
    handler: async ({ application, caller, query }) => {
      const { world, overview } = application;
      const limits = world.deployment.capacity;
      const now = world.clock.now();
      const found = await overview.line({ userId: whoseRecords(caller), now, ...pageRequest(query) });
      const positions = await world.placement.positions({ limits, now });
      return await answerPage(found, query.limit, {
        cursor: ({ order, waiterId }) => ({ value: order, id: waiterId }),
        records: (places) =>
          Promise.resolve(
            places.map((place) => waitingRecord(place, positions.get(place.waiterId) ?? null, limits)),
          ),
      });
    },
  }),
] as const;

function waitingRecord(
  place: LinePlace,
  position: number | null,
  { userMax }: CapacityLimits,
): z.output<typeof waitingSchema> {
  const isUsers = place.takenByUser >= userMax;
  return {
    id: place.waiterId,
    kind: place.machine,
    title: place.title,
    user_id: place.userId,
    run_id: place.runId,
    position,
    reason: position === null ? 'has_its_turn' : isUsers ? 'user_limit' : 'installation_limit',
    asked_at: isoInstant(place.askedAt),
  };
}
