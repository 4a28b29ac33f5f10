/**
 * watchAgent: waits until the agent is not working any more, or a limit of the item is met.
 * Owns the slow poll behind the callbacks, and the full transcript before it answers: no event is lost.
 */
import { z } from 'zod';
import type { CommandOf, MachineEvent } from '../core/machine/command.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { LimitReached } from '../core/machine/snapshot.ts';
import type { AgentConversationView } from '../ports/agent-server.ts';
import type { Json } from '../ports/engine-store.ts';
import type { PollResult, WatchHandler } from './activity.ts';
import { reportOf } from './agent-report.ts';
import { agentTarget } from './agent-target.ts';
import { spentBy } from './spend.ts';
import { restAfter, syncNewest } from './transcript.ts';
import { watch } from './watch.ts';
import type { World } from './world.ts';

type Watch = CommandOf<'watchAgent'>;

export const watchAgent = (world: World): WatchHandler<'watchAgent'> => ({
  poll: (command, memory) => poll(world, command, memory),
  run: (command, { signal }) => watch(world.clock, signal, (memory) => poll(world, command, memory)),
  failed: (command, error) => lost(world, command, error),
});

/**
 * An agent that no longer knows its conversation has failed. The sandbox's own watch reports the state of the runtime,
 * so nothing is reported here.
 */
function lost(world: World, command: Watch, error: ParleyError): MachineEvent | null {
  if (error.code !== 'agent_refused' && error.code !== 'not_found') return null;
  const { generation, id: commandId } = command;
  return {
    type: 'agentReported',
    commandId,
    report: {
      status: 'ERROR',
      pausedReason: null,
      at: world.clock.now(),
      generation,
      limitReached: null,
      retryAt: null,
      detail: error.message,
    },
  };
}

/** Its memory is how long the agent has shown no progress. */
async function poll(world: World, command: Watch, memory: Json): Promise<PollResult> {
  const target = await agentTarget(world, command);
  const view = await world.agent.conversation(target, command.conversationId);
  if (view === null)
    throw new ParleyError(
      'agent_refused',
      `Cannot watch conversation "${command.conversationId}": the agent does not know it`,
    );
  const { bytes } = await syncNewest(world, target, command.conversationId);
  if (view.executionStatus !== 'RUNNING') return { kind: 'over', event: report(command, view) };
  const now = world.clock.now();
  const nextAt = now + Math.max(world.deployment.pollMs, restAfter(bytes));
  const newestAt = await world.events.lastReceivedAt(command.conversationId);
  const quiet = quietTime(memory, { now, newestAt, nextAt });
  const limit = await metLimit(world, command, quiet.quietMs);
  if (limit !== null)
    return { kind: 'over', event: { type: 'agentLimitReached', commandId: command.id, limit } };
  return { kind: 'again', at: nextAt, memory: { ...quiet } };
}

function report(command: Watch, view: AgentConversationView): MachineEvent {
  return { type: 'agentReported', commandId: command.id, report: reportOf(view, command.generation) };
}

/** Limits that only this side can see: spend comes from the proxy's rows, progress from the event log. */
async function metLimit(world: World, command: Watch, quietMs: number): Promise<LimitReached | null> {
  const { conversationId, nanoUsdMax, noProgressMs } = command;
  if (nanoUsdMax !== null && (await spentBy(world, conversationId)) >= nanoUsdMax) return 'usd';
  return noProgressMs !== null && quietMs >= noProgressMs ? 'no_progress' : null;
}

const quietSchema = z.object({
  /** Epoch milliseconds of the last poll. */
  at: z.number(),
  /** When the next one was due. */
  dueAt: z.number(),
  quietMs: z.number(),
  /** When the newest event was received; null for none. */
  newestAt: z.number().nullable(),
});

/** For how long an agent has shown no progress, as far as polls have seen (D36). */
type QuietTime = z.infer<typeof quietSchema>;

/** A poll later than this many times its interval was held up: more than that does not count as quiet. */
const LATE_FACTOR = 4;

interface QuietPoll {
  readonly now: number;
  readonly newestAt: number | null;
  readonly nextAt: number;
}

/** `memory` is what the last poll returned; anything else means the first poll. */
function quietTime(memory: Json, { now, newestAt, nextAt }: QuietPoll): QuietTime {
  const known = quietSchema.safeParse(memory);
  if (!known.success) return { at: now, dueAt: nextAt, quietMs: 0, newestAt };
  const { at, dueAt, quietMs } = known.data;
  const gapMs = Math.min(Math.max(0, now - at), Math.max(0, dueAt - at) * LATE_FACTOR);
  const isQuiet = newestAt === known.data.newestAt;
  const sinceNewestMs = Math.min(gapMs, Math.max(0, now - (newestAt ?? now)));
  return { at: now, dueAt: nextAt, quietMs: isQuiet ? quietMs + gapMs : sinceNewestMs, newestAt };
}
