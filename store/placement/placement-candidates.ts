/**
 * What placement sees of the sandboxes there are.
 * Owns the query; which of them is chosen is decided by the pure `place`.
 */
import type { ExpressionBuilder, Kysely } from 'kysely';
import { runId, sandboxId, userId, type SandboxId } from '../../core/ids.ts';
import type { HostLabels } from '../../core/placement/choose-host.ts';
import type { PlacementCandidate, PooledSandbox } from '../../core/placement/place.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import { isLeaving } from '../../core/sandbox/row.ts';
import type { SandboxStatus } from '../../core/status.ts';
import type { PlaceRequest } from '../../ports/placement-store.ts';
import { safeInteger, safeIntegerOrNull } from '../sql/column-value.ts';
import type { Tables } from '../schema/tables.ts';
import { isAttached } from '../engine/tombstone.ts';

/** The decision that is stored and shown names every candidate; those with the runtime up come first. */
const CANDIDATES_MAX = 1_000;

/** A strategy never sees one of the others: ERROR and MISSING take no conversation (D16). */
const STATUSES_PLACEABLE: readonly SandboxStatus[] = ['STARTING', 'RUNNING', 'PAUSED'];

/** The named sandbox whatever it is, or the user's living ones. A conversation does not count against its own move. */
export async function candidates(
  db: Kysely<Tables>,
  request: PlaceRequest,
): Promise<readonly PlacementCandidate[]> {
  const isLone = request.strategy === 'NO_GROUPING' && request.pool === undefined;
  if (request.sandboxId === null && isLone) return [];
  const rows = await listed(db, request)
    .select((where) => attachedCount(where, request.conversationId).as('attached_count'))
    .$if(request.pool !== undefined, (query) =>
      query
        .select('sandbox.body')
        .select((where) => heldCount(where, request.conversationId).as('held_count'))
        // All of the pool are seen, however many others there are: its size rests on it.
        .orderBy((where) => where('sandbox.pool', '=', request.pool?.poolId ?? ''), 'desc'),
    )
    .$if(request.host !== undefined, (query) =>
      query.leftJoin('host', 'host.name', 'sandbox.host').select('host.labels as host_labels'),
    )
    .orderBy('sandbox.available', 'desc')
    .orderBy('sandbox.created_at', 'desc')
    .limit(CANDIDATES_MAX)
    .execute();
  return rows.map((row) => ({
    sandboxId: sandboxId(row.sandbox_id),
    userId: userId(row.user_id),
    // Only rows of the closed vocabulary were ever written.
    status: row.status as SandboxStatus,
    available: row.available === 1,
    // A pool takes what is released as well, and must not take what goes for good.
    draining: row.draining === 1 || (row.body !== undefined && isLeaving(transitionIn(row.body))),
    createdAt: safeInteger(row.created_at),
    lastActivityAt: safeInteger(row.last_activity_at ?? row.created_at),
    sessionStartedAt: safeIntegerOrNull(row.session_started_at),
    attachedCount: safeInteger(row.attached_count ?? 0),
    ...pooled(row),
    ...hosted(row),
  }));
}

const transitionIn = (body: string): SandboxRow['transition'] => (JSON.parse(body) as SandboxRow).transition;

function pooled(row: {
  readonly pool: string | null;
  readonly pool_affinity: string | null;
  readonly pool_placed: number | bigint | string;
  readonly held_count?: number | bigint | string | null | undefined;
}): { readonly pool?: PooledSandbox } {
  if (row.pool === null) return {};
  return {
    pool: {
      poolId: runId(row.pool),
      affinity: row.pool_affinity,
      placedCount: safeInteger(row.pool_placed),
      heldCount: safeInteger(row.held_count ?? 0),
    },
  };
}

function hosted(row: {
  readonly host: string | null;
  readonly host_labels?: string | null | undefined;
}): Pick<PlacementCandidate, 'host'> {
  const { host: name, host_labels: labels } = row;
  if (name === null || labels === undefined || labels === null) return {};
  return { host: { name, labels: JSON.parse(labels) as HostLabels } };
}

function listed(db: Kysely<Tables>, request: PlaceRequest) {
  const query = db
    .selectFrom('sandbox')
    .leftJoin('activity', 'activity.sandbox_id', 'sandbox.sandbox_id')
    .select([
      'sandbox.sandbox_id',
      'sandbox.user_id',
      'sandbox.status',
      'sandbox.available',
      'sandbox.draining',
      'sandbox.created_at',
      'sandbox.session_started_at',
      'sandbox.pool',
      'sandbox.pool_affinity',
      'sandbox.pool_placed',
      'sandbox.host',
      'activity.last_activity_at',
    ]);
  const explicit: SandboxId | null = request.sandboxId;
  if (explicit !== null) return query.where('sandbox.sandbox_id', '=', explicit);
  return query
    .where('sandbox.user_id', '=', request.userId)
    .where('sandbox.status', 'in', STATUSES_PLACEABLE);
}

function attachedCount(where: ExpressionBuilder<Tables, 'sandbox'>, except: string) {
  return where
    .selectFrom('attachment')
    .select((attachment) => attachment.fn.countAll().as('count'))
    .whereRef('attachment.sandbox_id', '=', 'sandbox.sandbox_id')
    .where('attachment.conversation_id', '!=', except)
    .where(isAttached);
}

function heldCount(where: ExpressionBuilder<Tables, 'sandbox'>, except: string) {
  return attachedCount(where, except).where('attachment.pool_place', '=', 1);
}
