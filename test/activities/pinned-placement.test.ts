/** A conversation that names a host: how its wait is reported, and when its placement is refused. */
import { expect, it } from 'vitest';
import { userId } from '../../core/ids.ts';
import { activityWorld, answerOf, CONVERSATION } from './activity-world.ts';

const PLACE = {
  type: 'placeConversation',
  id: 'c#1',
  conversationId: CONVERSATION,
  userId: userId('ada'),
  strategy: 'NO_GROUPING',
  sandboxId: null,
  excluded: [],
  host: { name: 'gpu-1' },
} as const;
const LIMITS = { installationMax: 9, userMax: 9, conversationsPerSandboxMax: 9 };
const HOSTED = { ...LIMITS, hosts: { runtime: 'process', strategy: 'spread' } } as const;

it.each(['queue', 'pause_longest_idle'] as const)(
  'waits for its host, says for what, and pauses nobody for one that is not there (%s)',
  async (onFull) => {
    const around = await activityWorld({ onFull, capacity: HOSTED });
    expect(await answerOf(around, PLACE)).toEqual({
      ...{ type: 'placementWaits', commandId: 'c#1', lookAgainMs: 61_000 },
      detail: 'a host: there is no host for the runtime "process"',
    });
  },
);

it('is refused where a start does not wait, and where sandboxes live on no host', async () => {
  const around = await activityWorld({ onFull: 'refuse', capacity: HOSTED });
  expect(await answerOf(around, PLACE)).toMatchObject({ code: 'placement_failed' });
  const unbound = await activityWorld({ onFull: 'queue', capacity: LIMITS });
  expect(await answerOf(unbound, PLACE)).toMatchObject({
    ...{ type: 'placementRefused', code: 'placement_failed' },
    reason: expect.stringContaining('on the host "gpu-1": sandboxes of this deployment') as string,
  });
});
