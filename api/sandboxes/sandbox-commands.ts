/**
 * What users do with a sandbox: create, pause, resume, delete.
 * Owns what is refused before it is accepted (D8, D17) and the order of a creation; the rest is the machine's.
 */
import { withWarm } from '../../activities/warm-sandbox.ts';
import { refusalOf } from '../../core/sandbox/machine.ts';
import { sandboxId as asSandboxId, type UserId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import type { SandboxEvent } from '../../core/sandbox/message.ts';
import type { Application, Principal } from '../application/application.ts';
import { full, refuseResumeWhenFull } from '../application/capacity.ts';

/** @throws ParleyError not_found: also for another user's (D4) */
export async function findSandbox(
  { search }: Application,
  { userId }: Pick<Principal, 'userId'>,
  id: string,
): Promise<SandboxRow> {
  const [row] = await search.sandboxesById(userId, [asSandboxId(id)]);
  if (row !== undefined && row !== null) return row;
  throw new ParleyError('not_found', 'Sandbox not found');
}

/**
 * The slot first: what has none is never made. A repeat under one idempotency key finds the same sandbox.
 * @throws ParleyError concurrency_limit_reached
 */
export async function createSandbox(
  application: Application,
  userId: UserId,
  idempotencyKey: string | null,
): Promise<SandboxRow> {
  const { world } = application;
  const seed = idempotencyKey === null ? application.randomHex(32) : `sandbox/${userId}/${idempotencyKey}`;
  const wanted = asSandboxId(world.keys.uuidOf(seed));
  const request = { sandboxId: wanted, userId, limits: world.deployment.capacity, now: world.clock.now() };
  const slot = await withWarm(world, (warm) => world.placement.reserveSandbox({ ...request, ...warm }));
  if (slot.kind === 'refused') throw full(slot.limit, slot.current);
  const sandboxId = slot.sandboxId ?? wanted;
  await bringToLife(application, await findSandbox(application, { userId }, sandboxId));
  return await findSandbox(application, { userId }, sandboxId);
}

async function bringToLife(
  { requests, world }: Application,
  { sandboxId, userId, generation, sessionStartedAt }: SandboxRow,
): Promise<void> {
  const { limits } = world.deployment;
  // Before its machine has written a row, only a sandbox of the warm pool has a runtime that is up.
  const warmth = generation > 0 || sessionStartedAt === null ? {} : { bootedAt: sessionStartedAt };
  await requests.deliver({
    to: { machine: 'sandbox', id: sandboxId },
    event: { type: 'created', spec: { sandboxId, userId, createdBy: 'api', limits, ...warmth } },
  });
}

/** After a restart: a slot was taken, and the machine never received its creation. */
export async function takeUpSandboxes(application: Application): Promise<void> {
  for (const row of await application.search.sandboxesNeverMade()) await bringToLife(application, row);
}

/** @throws ParleyError sandbox_error, sandbox_missing (409, both), concurrency_limit_reached */
export async function sendToSandbox(
  application: Application,
  row: SandboxRow,
  wish: { readonly kind: 'pause' | 'resume' | 'delete'; readonly requestId: string },
): Promise<void> {
  const { kind, requestId } = wish;
  const refusal = refusalOf(row, kind);
  if (refusal !== null)
    throw new ParleyError('sandbox_error', `Cannot ${kind} the sandbox: it is in ${row.status}`);
  if (row.status === 'MISSING') return;
  if (kind === 'resume') await refuseResumeWhenFull(application, row);
  await application.requests.deliver({
    to: { machine: 'sandbox', id: row.sandboxId },
    event: eventOf(kind, requestId),
  });
}

function eventOf(kind: 'pause' | 'resume' | 'delete', requestId: string): SandboxEvent {
  switch (kind) {
    case 'pause':
      return { type: 'pauseRequested', requestId, reason: 'user' };
    case 'resume':
      return { type: 'resumeRequested', requestId, conversationId: null };
    case 'delete':
      return { type: 'deleteRequested', requestId };
  }
}
