/**
 * The socket of an Agent Server, taken out of its sandbox's reach as soon as it answers.
 * The Agent Server makes it where its sandbox can write, and there any program of the sandbox could put its own in place
 * of it: the next caller would send it the session key. Moved, it is the same socket, in a directory that only we
 * see (D31). Owns the moving; must run before anything of a conversation does.
 */
import { lstat, rename } from 'node:fs/promises';
import type { ParleyError } from '../../core/parley-error.ts';
import type { Clock } from '../../ports/clock.ts';
import { healthAt, untilNextProbe, type Health } from './health-probe.ts';
import { stale, tooLate } from './order-refusals.ts';
import { removeTree } from './remove-tree.ts';
import type { StartOrder } from './runtime-by-record.ts';
import type { SandboxPlace } from './sandbox-place.ts';
import { timeLeft } from './wait.ts';

/** Probes whether the Agent Server is up; when it is, its socket is sealed. Never throws. */
async function sealedHealth({
  socket,
  offeredSocket,
}: Pick<SandboxPlace, 'socket' | 'offeredSocket'>): Promise<Health> {
  if (await isSocket(socket)) return await healthAt(socket);
  const health = await healthAt(offeredSocket);
  if (health !== 'up') return health;
  return (await moved(offeredSocket, socket)) ? 'up' : 'silent';
}

interface Boot extends Pick<StartOrder<SandboxPlace>, 'place' | 'request' | 'overtaken'> {
  readonly clock: Clock;
  /** Why it will not answer any more; null while it may. */
  readonly problem: () => Promise<ParleyError | null>;
  /** Ends it at the deadline. */
  readonly giveUp: () => Promise<void>;
}

/** Waits until the Agent Server answers and its socket is sealed. @throws ParleyError as `SandboxRuntime.start` */
export async function untilSealed(boot: Boot): Promise<void> {
  const { place, request, overtaken, clock } = boot;
  const leftMs = timeLeft(clock, request.deadline);
  for (;;) {
    if (overtaken.aborted) throw stale(request, 'a newer order was given');
    const health = await sealedHealth(place);
    if (health === 'up') return;
    const problem = await boot.problem();
    if (problem !== null) throw problem;
    if (leftMs() <= 0) {
      await boot.giveUp();
      throw tooLate(request);
    }
    await untilNextProbe(place.offeredSocket, health, { clock, waitMs: leftMs(), aborted: overtaken });
  }
}

/** What was put in its place meanwhile may be no socket at all, and is never kept. */
async function moved(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to);
    if (await isSocket(to)) return true;
    await removeTree(to);
  } catch {
    // The next probe finds what is there.
  }
  return false;
}

async function isSocket(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isSocket() ?? false;
}
