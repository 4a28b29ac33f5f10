/**
 * watchAgent: waits until the agent is not working any more, or a limit of the item is met.
 * Owns the slow poll behind the callbacks, and the full transcript before it answers: no event is lost.
 */
import type { CommandOf, MachineEvent } from '../core/command.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { LimitReached } from '../core/snapshot.ts';
import type { AgentConversationView } from '../ports/agent-server.ts';
import { PATIENT, type Activity, type ActivityContext } from './activity.ts';
import { reportOf } from './agent-report.ts';
import { agentTarget } from './agent-target.ts';
import { sleepUntil } from './sleep.ts';
import { spentBy } from './spend.ts';
import { syncTranscript } from './transcript.ts';
import type { World } from './world.ts';

type Watch = CommandOf<'watchAgent'>;

export const watchAgent = (world: World): Activity<'watchAgent'> => ({
  type: 'watchAgent',
  resource: 'watch',
  retry: PATIENT,
  run: (command, context) => watch(world, command, context),
  failed: (command, error) => lost(world, command, error),
});

/**
 * An agent that no longer knows its conversation has failed. What became of a runtime is told by the sandbox's own
 * watch: nothing to add here.
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

async function watch(
  world: World,
  command: Watch,
  { signal }: ActivityContext,
): Promise<MachineEvent | null> {
  const since = world.clock.now();
  while (!signal.aborted) {
    const target = await agentTarget(world, command);
    const view = await world.agent.conversation(target, command.conversationId);
    if (view === null)
      throw new ParleyError(
        'agent_refused',
        `Cannot watch conversation "${command.conversationId}": the agent does not know it`,
      );
    await syncTranscript(world, target, command.conversationId);
    if (view.executionStatus !== 'RUNNING') return report(command, view);
    const limit = await metLimit(world, command, since);
    if (limit !== null) return { type: 'agentLimitReached', commandId: command.id, limit };
    await sleepUntil(world.clock, world.clock.now() + world.deployment.pollMs, signal);
  }
  return null;
}

function report(command: Watch, view: AgentConversationView): MachineEvent {
  return { type: 'agentReported', commandId: command.id, report: reportOf(view, command.generation) };
}

/** Limits that only this side can see: spend comes from the proxy's rows, progress from the event log. */
async function metLimit(world: World, command: Watch, since: number): Promise<LimitReached | null> {
  const { conversationId, nanoUsdMax, noProgressMs } = command;
  if (nanoUsdMax !== null && (await spentBy(world, conversationId)) >= nanoUsdMax) return 'usd';
  if (noProgressMs === null) return null;
  const last = Math.max(since, (await world.events.lastReceivedAt(conversationId)) ?? 0);
  return world.clock.now() >= last + noProgressMs ? 'no_progress' : null;
}
