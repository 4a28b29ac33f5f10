/**
 * watchIdle: watches activity and runtime of one session, and ends in one event.
 * Owns how activity is put together (D9); the machine decides again whether that is idle enough.
 */
import { idleAt, latestActivity } from '../core/sandbox/activity.ts';
import type { CommandOf, MachineEvent } from '../core/machine/command.ts';
import type { RuntimePresence } from '../ports/sandbox-runtime.ts';
import type { Json } from '../ports/engine-store.ts';
import type { PollResult, WatchHandler } from './activity.ts';
import { agentTarget } from './agent-target.ts';
import { watch } from './watch.ts';
import type { World } from './world.ts';

/** Polls in a row that find the runtime unreachable before it counts as stale. */
const UNKNOWN_POLLS_MAX = 3;

export const watchIdle = (world: World): WatchHandler<'watchIdle'> => ({
  poll: (command, memory) => poll(world, command, memory),
  run: (command, { signal }) => watch(world.clock, signal, (memory) => poll(world, command, memory)),
  failed: (command) => ({ type: 'runtimeUnknown', commandId: command.id }),
});

/** Its memory is how many polls in a row found the runtime unreachable. */
async function poll(world: World, command: CommandOf<'watchIdle'>, memory: Json): Promise<PollResult> {
  const { clock, deployment } = world;
  const presence = await world.runtime.inspect(command.sandboxId);
  const unknownPolls = presence.kind === 'unknown' ? Number(memory ?? 0) + 1 : 0;
  const event = judge(command, presence, unknownPolls);
  if (event !== null) return { kind: 'over', event };
  const lastActivityAt = await lastActivity(world, command);
  const now = clock.now();
  const isIdleAt = idleAt(lastActivityAt, command.idleTimeMs);
  if (now >= isIdleAt) {
    const commandId = command.id;
    return { kind: 'over', event: { type: 'idleReached', commandId, lastActivityAt, lookedAt: now } };
  }
  return { kind: 'again', at: Math.min(isIdleAt, now + deployment.pollMs), memory: unknownPolls };
}

/** Gone, dead and unreachable are three different things (D13). */
function judge(
  command: CommandOf<'watchIdle'>,
  presence: RuntimePresence,
  unknownPolls: number,
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
      if (presence.isEvicted === true) return { type: 'runtimeEvicted', commandId };
      return { type: 'runtimeCrashed', commandId, reason: 'the runtime was stopped from outside' };
    case 'unknown':
      return unknownPolls >= UNKNOWN_POLLS_MAX && !command.stale
        ? { type: 'runtimeUnknown', commandId }
        : null;
    case 'up':
      return command.stale ? { type: 'runtimeAnswered', commandId } : null;
  }
}

/** The latest of stored activity and what the agent itself reports; while a lease is held, it reports no idle time. */
async function lastActivity(world: World, command: CommandOf<'watchIdle'>): Promise<number> {
  const stored = await world.activity.lastActivityAt(command.sandboxId);
  const known = latestActivity(command.since, [stored]);
  // Only the agent of a sandbox that is about to count as idle is queried: that keeps the others undisturbed.
  if (world.clock.now() < idleAt(known, command.idleTimeMs)) return known;
  try {
    const target = await agentTarget(world, command);
    const idleMs = (await world.agent.idleSeconds(target)) * 1_000;
    return latestActivity(known, [Math.round(world.clock.now() - idleMs)]);
  } catch {
    return known;
  }
}
