/**
 * Finding the Agent Server of an incarnation.
 * Owns the translation of what a runtime sees into an address or the right error.
 */
import type { SandboxId } from '../core/ids.ts';
import type { CommandOf } from '../core/machine/command.ts';
import type { SandboxRow } from '../core/machine/projection.ts';
import { ParleyError } from '../core/parley-error.ts';
import { MINUTE_MS } from '../core/time.ts';
import type { AgentTarget } from '../ports/agent-server.ts';
import type { SandboxAddress } from '../ports/sandbox-runtime.ts';
import type { World } from './world.ts';

export interface Incarnation {
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

/** Of a sandbox that this process has. */
export interface OwnTarget extends AgentTarget {
  readonly address: SandboxAddress;
}

/**
 * Wherever the sandbox lives: for who only asks its agent something.
 * @throws ParleyError host_unreachable, else as agentTarget
 */
export async function reachableAgent(world: World, incarnation: Incarnation): Promise<AgentTarget> {
  try {
    return await agentTarget(world, incarnation);
  } catch (error) {
    if (!(error instanceof ParleyError) || error.code !== 'runtime_gone') throw error;
    const target = await elsewhere(world, incarnation);
    if (target === null) throw error;
    return target;
  }
}

/** Null: it lives on no other host. */
async function elsewhere(world: World, { sandboxId, generation }: Incarnation): Promise<AgentTarget | null> {
  const way = (await world.otherHost?.(sandboxId)) ?? null;
  if (way === null) return null;
  const { host, relay } = way;
  if (relay === null)
    throw new ParleyError(
      'host_unreachable',
      `Cannot reach sandbox "${sandboxId}" from here: it lives on the host "${host}", which has no relay`,
      { details: { host }, remedy: `set host.relay in the configuration of the worker on ${host}` },
    );
  const sessionKey = world.keys.sessionKey(sandboxId, generation);
  return { address: { sandboxId, generation, agent: { relay } }, sessionKey };
}

/**
 * @throws ParleyError runtime_gone, stale_generation, runtime_unreachable or agent_unreachable (not up, ask again)
 */
export async function agentTarget(world: World, incarnation: Incarnation): Promise<OwnTarget> {
  const { sandboxId, generation } = incarnation;
  const presence = await world.runtime.inspect(sandboxId);
  switch (presence.kind) {
    case 'up':
      if (presence.generation !== generation) throw stale(incarnation, presence.generation);
      return { address: presence.address, sessionKey: world.keys.sessionKey(sandboxId, generation) };
    case 'gone':
      throw new ParleyError(
        'runtime_gone',
        `Cannot reach sandbox "${sandboxId}": the runtime has no such sandbox`,
      );
    case 'unknown':
      throw new ParleyError('runtime_unreachable', `Cannot reach sandbox "${sandboxId}": ${presence.reason}`);
    case 'stopped':
    case 'crashed':
      if (presence.generation > generation) throw stale(incarnation, presence.generation);
      throw new ParleyError(
        'agent_unreachable',
        `Cannot reach sandbox "${sandboxId}": it is ${presence.kind}`,
      );
  }
}

/**
 * Has a sandbox that was released resumed, so that work in it can be checked and collected (D7).
 * @throws ParleyError sandbox_resuming where it was, until the request has reached it, and again where its resume failed;
 * sandbox_starting while it is on its way up, or in the line for a slot
 */
export async function resumeReleased(
  world: World,
  { id, conversationId }: Pick<CommandOf<'verifyItem'>, 'id' | 'conversationId'>,
  { releasedAt, transition, detail }: Pick<SandboxRow, 'releasedAt' | 'transition' | 'detail'>,
): Promise<void> {
  if (releasedAt === null) return;
  const doing = `Cannot reach the sandbox of conversation "${conversationId}"`;
  if (transition !== null) throw new ParleyError('sandbox_starting', `${doing}: it is being resumed`);
  // One request per minute: a resume that failed is requested again.
  const requestId = `resume/${id}/${Math.floor(world.clock.now() / MINUTE_MS)}`;
  await world.notifier.deliver({
    to: { machine: 'conversation', id: conversationId },
    event: { type: 'accessRequested', requestId },
  });
  throw new ParleyError('sandbox_resuming', `${doing}: ${detail ?? 'it was released'}`);
}

function stale({ sandboxId, generation }: Incarnation, current: number): ParleyError {
  return new ParleyError(
    'stale_generation',
    `Cannot use generation ${generation} of sandbox "${sandboxId}": generation ${current} is up`,
  );
}
