/**
 * Finding the Agent Server of an incarnation.
 * Owns the translation of what a runtime sees into an address or the right error.
 */
import type { SandboxId } from '../core/ids.ts';
import { ParleyError } from '../core/parley-error.ts';
import type { AgentTarget } from '../ports/agent-server.ts';
import type { World } from './world.ts';

export interface Incarnation {
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

/**
 * @throws ParleyError runtime_gone, stale_generation, runtime_unreachable or agent_unreachable (not up, ask again)
 */
export async function agentTarget(world: World, incarnation: Incarnation): Promise<AgentTarget> {
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

function stale({ sandboxId, generation }: Incarnation, current: number): ParleyError {
  return new ParleyError(
    'stale_generation',
    `Cannot use generation ${generation} of sandbox "${sandboxId}": generation ${current} is up`,
  );
}
