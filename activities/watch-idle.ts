/**
 * watchIdle: watches activity and runtime of one session, and ends in one event.
 * Owns how activity is put together (D9); whether that is idle enough is the machine's to say again.
 */
import type { CommandOf, MachineEvent } from '../core/command.ts';
import type { RuntimePresence } from '../ports/sandbox-runtime.ts';
import { PATIENT, type Activity, type ActivityContext } from './activity.ts';
import { agentTarget } from './agent-target.ts';
import { sleepUntil } from './sleep.ts';
import type { World } from './world.ts';

/** Looks in a row that found the runtime unreachable before it is called stale. */
const UNKNOWN_LOOKS_MAX = 3;

export const watchIdle = (world: World): Activity<'watchIdle'> => ({
  type: 'watchIdle',
  resource: 'watch',
  retry: PATIENT,
  run: (command, context) => watch(world, command, context),
  failed: (command) => ({ type: 'runtimeUnknown', commandId: command.id }),
});

async function watch(
  world: World,
  command: CommandOf<'watchIdle'>,
  { signal }: ActivityContext,
): Promise<MachineEvent | null> {
  const { clock, deployment } = world;
  let unknownLooks = 0;
  while (!signal.aborted) {
    const presence = await world.runtime.inspect(command.sandboxId);
    unknownLooks = presence.kind === 'unknown' ? unknownLooks + 1 : 0;
    const verdict = judge(command, presence, unknownLooks);
    if (verdict !== null) return verdict;
    const lastActivityAt = await lastActivity(world, command);
    const idleAt = command.idleTimeMs === null ? null : lastActivityAt + command.idleTimeMs;
    if (idleAt !== null && clock.now() >= idleAt)
      return { type: 'idleReached', commandId: command.id, lastActivityAt, lookedAt: clock.now() };
    await sleepUntil(clock, Math.min(idleAt ?? Infinity, clock.now() + deployment.pollMs), signal);
  }
  return null;
}

/** Gone, dead and unreachable are three different things (D13). */
function judge(
  command: CommandOf<'watchIdle'>,
  presence: RuntimePresence,
  unknownLooks: number,
): MachineEvent | null {
  const commandId = command.id;
  switch (presence.kind) {
    case 'gone':
      return { type: 'runtimeGone', commandId };
    case 'crashed':
      if (presence.generation !== command.generation) return null;
      return { type: 'runtimeCrashed', commandId, reason: presence.reason };
    case 'stopped':
      if (presence.generation !== command.generation) return null;
      return { type: 'runtimeCrashed', commandId, reason: 'the runtime was stopped from outside' };
    case 'unknown':
      return unknownLooks >= UNKNOWN_LOOKS_MAX && !command.stale
        ? { type: 'runtimeUnknown', commandId }
        : null;
    case 'up':
      return command.stale ? { type: 'runtimeAnswered', commandId } : null;
  }
}

/** The latest of what we stored and what the agent itself reports; a lease shows as no idle time at all. */
async function lastActivity(world: World, command: CommandOf<'watchIdle'>): Promise<number> {
  const stored = await world.activity.lastActivityAt(command.sandboxId);
  const known = Math.max(command.since, stored ?? 0);
  if (command.idleTimeMs === null) return known;
  // Only somebody who is about to be called idle is asked: that keeps the agents undisturbed.
  if (world.clock.now() < known + command.idleTimeMs) return known;
  try {
    const target = await agentTarget(world, command);
    const idleMs = (await world.agent.idleSeconds(target)) * 1_000;
    return Math.max(known, Math.round(world.clock.now() - idleMs));
  } catch {
    return known;
  }
}
