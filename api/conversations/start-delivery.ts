/**
 * A start on its way to its machine: delivered, kept while the outcome is unknown, taken up when its process has ended.
 * Owns that only what the engine has refused is forgotten, never what it may have taken; several services on one store
 * share the starts by leases. Must not know a request.
 */
import { launchScope, storedLaunchFacts } from '../../activities/launch-facts.ts';
import { secretScope } from '../../activities/redaction.ts';
import {
  START_AGAIN_MS,
  START_AGAIN_MS_MAX,
  START_LEASE_MS,
  STARTS_AT_ONCE,
  STARTS_POLL_MS,
} from '../../core/limits.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { LeasedStart, StartTask } from '../../ports/start-tasks.ts';
import type { Application } from '../application/application.ts';

/**
 * For a start that was sealed. Returns also when the engine gives no answer: it may have taken it, so it is pending, and
 * delivered again until that is known. A conversation that has begun takes the repeat for what it is.
 * @throws ParleyError why the engine refuses it; nothing has begun, and it is forgotten
 */
export async function deliverStart(application: Application, task: StartTask): Promise<void> {
  try {
    await deliver(application, task);
  } catch (error) {
    if (isRefusal(error)) {
      await forget(application, task);
      throw error;
    }
    await again(application, task);
  }
}

/** A start whose caller has no answer yet. One sealed meanwhile is left alone: another service goes on with it. */
export async function takeBack(application: Application, task: StartTask): Promise<void> {
  if (await application.startTasks.abandon(task.taskId)) await forget(application, task);
}

async function deliver({ requests, startTasks }: Application, task: StartTask): Promise<void> {
  await requests.deliver({
    to: { machine: 'conversation', id: task.conversationId },
    event: { type: 'started', spec: task.spec, watcher: null },
  });
  await startTasks.markDelivered(task.taskId);
}

/** A repeat of it would be refused as well, and the engine that refuses it has taken nothing. */
function isRefusal(error: unknown): boolean {
  return error instanceof ParleyError && !error.retry && error.status < 500;
}

/** The older it is, the rarer. Where the store cannot take the new time, its lease ends by itself. */
async function again(application: Application, { taskId, createdAt }: StartTask): Promise<void> {
  const { clock } = application.world;
  const now = clock.now();
  const waitMs = Math.min(START_AGAIN_MS_MAX, Math.max(START_AGAIN_MS, (now - createdAt) / 10));
  const at = now + waitMs;
  await application.startTasks.returnLease(taskId, at).catch(() => undefined);
  clock.setTimer(at, () => void bringOn(application, at).catch(() => undefined));
}

/** The row goes last: what is left of it by a process that ends here is taken up again. */
async function forget(application: Application, task: StartTask): Promise<void> {
  const { startTasks, world, requests } = application;
  const { conversationId, taskId } = task;
  const left = await world.placement.detach(conversationId);
  await removeSealed(application, task);
  await startTasks.remove(taskId);
  if (left.sandboxId === null || !left.sandboxToRemove) return;
  const event = { type: 'deleteRequested', requestId: `start/${taskId}` } as const;
  await requests.deliver({ to: { machine: 'sandbox', id: left.sandboxId }, event });
}

/** What was sealed for a start that there will not be. */
export async function removeSealed({ world }: Application, { conversationId }: StartTask): Promise<void> {
  await world.vault.removeScope(secretScope(conversationId));
  await world.vault.removeScope(launchScope(conversationId));
}

/**
 * When a service begins. One that is alone on its store takes every start: the process that left them has ended. Any
 * other leaves alone what other services hold, and keeps polling for starts whose leases have run out.
 */
export async function takeUpStarts(
  application: Application,
  { isAlone }: { readonly isAlone: boolean } = { isAlone: true },
): Promise<{ stop(): void }> {
  if (isAlone) await bringOn(application, null);
  return isAlone ? { stop: () => undefined } : keepLooking(application);
}

function keepLooking(application: Application): { stop(): void } {
  const { clock } = application.world;
  const look = (): void => {
    timer = clock.setTimer(clock.now() + STARTS_POLL_MS, look);
    // What fails is still there at the next poll.
    bringOn(application, clock.now()).catch(() => undefined);
  };
  let timer = clock.setTimer(clock.now(), look);
  return { stop: () => timer.cancel() };
}

/** `now` null takes what others hold, too. Several at once: one that waits for its engine delays no other. */
async function bringOn(application: Application, now: number | null): Promise<void> {
  const { startTasks, world } = application;
  const limit = now === null ? null : STARTS_AT_ONCE;
  const until = world.clock.now() + START_LEASE_MS;
  const taken = await startTasks.takeUndelivered({ now, until, limit });
  await Promise.all(taken.map((start) => takeUp(application, start)));
  if (taken.length === limit) await bringOn(application, now);
}

async function takeUp(application: Application, { task, stage }: LeasedStart): Promise<void> {
  if (stage === 'abandoned') return await forget(application, task);
  if (stage === 'accepted' && !(await isWholeNow(application, task)))
    return await takeBack(application, task);
  // Its caller has an answer: the start is pending until its engine has it, also where the engine refuses it for now.
  await deliver(application, task).catch(() => again(application, task));
}

/** Facts are sealed last: where they are, everything is, and only the mark in the store is missing. */
async function isWholeNow({ world, startTasks }: Application, task: StartTask): Promise<boolean> {
  const facts = await storedLaunchFacts(world.vault, task.conversationId);
  return facts !== null && (await startTasks.markSealed(task.taskId));
}
