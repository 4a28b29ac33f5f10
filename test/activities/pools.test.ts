/** Commands about a pool: sandboxes made ahead, and a place that is waited for or refused. */
import { describe, expect, it } from 'vitest';
import type { CommandOf } from '../../core/machine/command.ts';
import { userId } from '../../core/ids.ts';
import { conversationNumber, runItemRow } from '../contract/store-rows.ts';
import { activityWorld, answerOf, attempt, RUN } from './activity-world.ts';

const USER = userId('ada');
const WARM: CommandOf<'warmPool'> = {
  type: 'warmPool',
  id: 'run/run-1#1',
  runId: RUN,
  userId: USER,
  size: 3,
};

const placing = (
  index: number,
  onFull: 'wait' | 'spill' | 'fail' = 'wait',
): CommandOf<'placeConversation'> => ({
  type: 'placeConversation',
  id: `conversation/${conversationNumber(index)}#1`,
  conversationId: conversationNumber(index),
  userId: USER,
  strategy: 'FEWEST_CONVERSATIONS',
  sandboxId: null,
  excluded: [],
  pool: {
    poolId: RUN,
    key: `k${index}`,
    affinity: null,
    size: 1,
    maxPerSandbox: 1,
    recycleAfter: null,
    recycleAgeMs: null,
    onFull,
  },
});

describe('warmPool', () => {
  it('makes as many sandboxes as there are slots for, and says why there are fewer', async () => {
    const around = await activityWorld();
    const answer = await answerOf(around, WARM);
    expect(answer).toMatchObject({
      type: 'poolWarmed',
      commandId: WARM.id,
      reason: 'there is no room for more',
    });
    const made = around.told.map(({ to }) => to.id);
    expect(made).toHaveLength(2);
    expect(answer).toMatchObject({ sandboxIds: made });
    expect(around.told[0]).toMatchObject({
      to: { machine: 'sandbox' },
      event: { type: 'created', spec: { userId: USER, createdBy: 'placement' } },
    });
  });

  it('makes nothing twice', async () => {
    const around = await activityWorld();
    const first = await answerOf(around, { ...WARM, size: 2 });
    expect(first).toMatchObject({ reason: null });
    expect(await answerOf(around, { ...WARM, size: 2 })).toEqual(first);
    expect(await around.store.records.sandboxes()).toHaveLength(2);
  });

  it('makes others for a run that is taken up again', async () => {
    const around = await activityWorld();
    const sandboxesOf = async (command: CommandOf<'warmPool'>) => {
      const answer = await answerOf(around, command);
      return answer?.type === 'poolWarmed' ? answer.sandboxIds : [];
    };
    const [before] = await sandboxesOf({ ...WARM, size: 1 });
    expect(await sandboxesOf({ ...WARM, size: 1, round: 7 })).toEqual([]);
    const again = await sandboxesOf({ ...WARM, size: 2, round: 7 });
    expect(again).toHaveLength(1);
    expect(again).not.toContain(before);
  });

  it('is what the first conversations are placed in', async () => {
    const around = await activityWorld();
    await answerOf(around, { ...WARM, size: 1 });
    const [made] = around.told;
    expect(await answerOf(around, placing(1))).toMatchObject({
      type: 'placed',
      sandboxId: made?.to.id,
      spec: null,
    });
  });
});

describe('placeConversation in a pool', () => {
  it('asks again while the job waits, whatever the deployment does when it is full', async () => {
    const around = await activityWorld({ onFull: 'refuse' });
    await answerOf(around, placing(1));
    await expect(attempt(around, placing(2))).rejects.toMatchObject({ code: 'pool_full' });
    await around.store.records.project([runItemRow('k1', { left: [conversationNumber(1)] })]);
    expect(await answerOf(around, placing(2))).toMatchObject({ type: 'placed', spec: null });
  });

  it('says of a sandbox outside the pool that it is none of it, and says it again', async () => {
    const around = await activityWorld();
    const first = await answerOf(around, placing(1, 'spill'));
    expect(first).not.toHaveProperty('spilled');
    const answer = await answerOf(around, placing(2, 'spill'));
    expect(answer).toMatchObject({ type: 'placed', spilled: true });
    expect(await answerOf(around, placing(2, 'spill'))).toEqual(answer);
  });

  it('says so at once where the job wants it to fail', async () => {
    const around = await activityWorld({ onFull: 'queue' });
    await answerOf(around, placing(1));
    expect(await answerOf(around, placing(2, 'fail'))).toMatchObject({
      type: 'placementRefused',
      code: 'pool_full',
      reason:
        'Cannot place the conversation: the pool of its run is full, 1 of 1 sandboxes with 1 place each',
    });
  });
});
