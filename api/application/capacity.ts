/**
 * Saying no before anything is accepted when no slot is free (D17, D29).
 * Owns the answers; who gets the last slot of several is decided where slots are taken.
 */
import { withWarm } from '../../activities/warm-sandbox.ts';
import { START_LEASE_MS, WAITING_STARTS_MAX } from '../../core/limits.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxRow } from '../../core/machine/projection.ts';
import type { AcceptOutcome, StartTask } from '../../ports/start-tasks.ts';
import type { Application } from './application.ts';

/**
 * For a sandbox that is released: its slot is taken later, by itself.
 * @throws ParleyError concurrency_limit_reached with `limit` and `current`
 */
export async function refuseResumeWhenFull(
  { world, search }: Application,
  { userId, status, available, transition }: SandboxRow,
): Promise<void> {
  const { capacity, onFull } = world.deployment;
  const isReleased = status === 'PAUSED' && !available && transition === null;
  if (onFull !== 'refuse' || !isReleased) return;
  const taken = await search.slotsTaken(userId);
  if (taken.user >= capacity.userMax) throw full(capacity.userMax, taken.user);
  if (taken.installation >= capacity.installationMax)
    throw full(capacity.installationMax, taken.installation);
}

/**
 * The task that holds the start: this one, placed at once where no start may wait, or the earlier one.
 * @throws ParleyError concurrency_limit_reached, idempotency_conflict: nothing was kept
 */
export async function acceptStart(application: Application, task: StartTask): Promise<StartTask> {
  const outcome = await admitted(application, task);
  switch (outcome.kind) {
    case 'kept':
      return outcome.task;
    case 'in_use':
      throw new ParleyError('idempotency_conflict', 'Cannot start: the id of the conversation is in use');
    case 'full':
      throw application.world.deployment.onFull === 'refuse'
        ? full(outcome.limit, outcome.current)
        : queueFull(outcome);
  }
}

async function admitted(
  application: Application,
  task: StartTask,
): Promise<Exclude<AcceptOutcome, { readonly kind: 'warm_lost' }>> {
  const { world, startTasks, search } = application;
  const { deployment, keys, clock } = world;
  const { conversationId, userId, strategy, sandboxId: explicit, host } = task.spec;
  const leasedUntil = task.createdAt + START_LEASE_MS;
  if (deployment.onFull !== 'refuse') {
    const admission = { kind: 'queued', waitingMax: WAITING_STARTS_MAX } as const;
    const outcome = await startTasks.accept(task, admission, leasedUntil);
    if (outcome.kind === 'warm_lost') throw new Error('Cannot start: a start that waits asked for a place');
    return outcome;
  }
  const [named] = explicit === null ? [] : await search.sandboxesById(userId, [explicit]);
  if (named !== undefined && named !== null) await refuseResumeWhenFull(application, named);
  const place = {
    ...{ conversationId, userId, strategy, sandboxId: explicit, host, excluded: [] },
    newSandboxId: keys.sandboxIdOf(conversationId, 0),
    limits: deployment.capacity,
    now: clock.now(),
  };
  return withWarm(explicit === null ? world : null, (warm) =>
    startTasks.accept(task, { kind: 'placed', place: { ...place, ...warm } }, leasedUntil),
  );
}

export function full(limit: number, current: number): ParleyError {
  return new ParleyError(
    'concurrency_limit_reached',
    `Cannot start: ${current} of ${limit} sandboxes are up`,
    { details: { limit, current } },
  );
}

function queueFull({ limit, current }: { readonly limit: number; readonly current: number }): ParleyError {
  return new ParleyError(
    'concurrency_limit_reached',
    `Cannot start: ${current} starts are waiting for a sandbox, and at most ${limit} may`,
    { details: { limit, current } },
  );
}
