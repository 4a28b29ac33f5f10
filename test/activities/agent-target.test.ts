/** Whom a command may speak to, by what the runtime sees of its sandbox. */
import { describe, expect, it } from 'vitest';
import { agentTarget } from '../../activities/agent-target.ts';
import type { RuntimePresence } from '../../ports/sandbox-runtime.ts';
import { activityWorld, SANDBOX } from './activity-world.ts';

const INCARNATION = { sandboxId: SANDBOX, generation: 2 };

describe('agentTarget()', () => {
  it('gives the address and the key of this incarnation', async () => {
    const { world, runtime } = await activityWorld();
    runtime.up(SANDBOX, 2);
    expect(await agentTarget(world, INCARNATION)).toEqual({
      address: runtime.address(SANDBOX, 2),
      sessionKey: world.keys.sessionKey(SANDBOX, 2),
    });
  });

  const cases: readonly (readonly [string, RuntimePresence, string, boolean])[] = [
    ['gone', { kind: 'gone' }, 'runtime_gone', false],
    ['unknown', { kind: 'unknown', reason: 'timeout' }, 'runtime_unreachable', true],
    ['stopped', { kind: 'stopped', generation: 2 }, 'agent_unreachable', true],
    ['stopped earlier, not started yet', { kind: 'stopped', generation: 1 }, 'agent_unreachable', true],
    ['crashed', { kind: 'crashed', generation: 2, reason: 'oom' }, 'agent_unreachable', true],
    ['stopped as a later one', { kind: 'stopped', generation: 3 }, 'stale_generation', false],
    ['crashed as a later one', { kind: 'crashed', generation: 3, reason: 'oom' }, 'stale_generation', false],
  ];
  it.each(cases)('refuses one that is %s', async (_, presence, code, retry) => {
    const { world, runtime } = await activityWorld();
    runtime.presences.set(SANDBOX, presence);
    await expect(agentTarget(world, INCARNATION)).rejects.toMatchObject({ code, retry });
  });

  it.each([1, 3])('refuses generation %i being up', async (generation) => {
    const { world, runtime } = await activityWorld();
    runtime.up(SANDBOX, generation);
    await expect(agentTarget(world, INCARNATION)).rejects.toMatchObject({ code: 'stale_generation' });
  });
});
