/** What happens when no slot is free, for a start and for a resume, under each policy. */
import { describe, expect, it } from 'vitest';
import { sandboxId, userId } from '../../core/ids.ts';
import { pollForRoomMs } from '../../core/placement/line.ts';
import type { Deployment } from '../../ports/deployment.ts';
import { conversationRow, sandboxRow } from '../contract/store-rows.ts';
import { T0 } from '../engine/movable-clock.ts';
import {
  activityWorld,
  answerOf,
  attempt,
  CONVERSATION,
  SANDBOX,
  type ActivityWorld,
} from './activity-world.ts';

const USER = userId('ada');
const PLACE = {
  type: 'placeConversation',
  id: 'c#1',
  conversationId: CONVERSATION,
  userId: USER,
  strategy: 'NO_GROUPING',
  sandboxId: null,
  excluded: [],
} as const;
const WAITS = { detail: 'capacity (2 of 2 in use)' } as const;
const RESERVE = { type: 'reserveSlot', id: 's#1', sandboxId: SANDBOX, generation: 1, userId: USER } as const;

const other = (index: number) => sandboxId(`a${index}`.padEnd(32, '0'));

/** Both slots are taken by sandboxes that are up. */
async function full(onFull: Deployment['onFull']): Promise<ActivityWorld> {
  const around = await activityWorld({ onFull });
  const { placement, records, deployment } = around.world;
  for (const index of [1, 2]) {
    const request = { sandboxId: other(index), userId: USER, limits: deployment.capacity, now: T0 + index };
    expect(await placement.reserveSandbox(request)).toEqual({ kind: 'granted' });
    await records.project([sandboxRow(other(index), { createdAt: T0 + index })]);
  }
  return around;
}

describe('placeConversation', () => {
  it('answers with the sandbox and its birth, and the same when it is repeated', async () => {
    const around = await activityWorld();
    const answer = await answerOf(around, PLACE);
    const made = around.world.keys.sandboxIdOf(CONVERSATION, 0);
    expect(answer).toMatchObject({
      type: 'placed',
      sandboxId: made,
      spec: { sandboxId: made, userId: USER, createdBy: 'placement' },
    });
    expect(await answerOf(around, PLACE)).toMatchObject({ sandboxId: made });
  });

  it('passes on a refusal that waiting would not change', async () => {
    const around = await activityWorld();
    expect(await answerOf(around, { ...PLACE, sandboxId: SANDBOX })).toMatchObject({
      type: 'placementRefused',
      code: 'not_found',
    });
  });
});

describe.each([
  [
    'placeConversation',
    PLACE,
    { type: 'placementRefused', code: 'concurrency_limit_reached' },
    { type: 'placementWaits', commandId: PLACE.id, ...WAITS },
  ],
  [
    'reserveSlot',
    RESERVE,
    { type: 'slotRefused', reason: '2 of 2 sandboxes are up' },
    { type: 'slotWaits', commandId: RESERVE.id, ...WAITS },
  ],
] as const)('%s when all slots are taken', (_, order, refusal, waits) => {
  it('is refused where the policy says so', async () => {
    expect(await attempt(await full('refuse'), order)).toMatchObject(refusal);
  });

  it('waits where the policy is a queue, and gets the first slot that is free', async () => {
    const around = await full('queue');
    expect(await attempt(around, order)).toEqual(waits);
    expect(around.told).toEqual([]);
    await around.world.records.project([
      sandboxRow(other(1), { sequence: 2, holdsSlot: false, available: false, status: 'PAUSED' }),
    ]);
    expect(await attempt(around, order)).toMatchObject({
      type: order.type === 'reserveSlot' ? 'slotGranted' : 'placed',
    });
  });

  it('asks the sandbox that rests longest to make room, and waits', async () => {
    const around = await full('pause_longest_idle');
    await around.world.activity.touch(other(1), T0 + 9_000);
    await around.world.activity.touch(other(2), T0 + 8_000);
    for (const _time of [1, 2])
      expect(await attempt(around, order)).toEqual({ ...waits, lookAgainMs: pollForRoomMs(1) });
    const requestId = `capacity/${order.id}/${other(2)}`;
    const event = { type: 'pauseRequested', requestId, reason: 'capacity' };
    expect(around.told).toEqual(Array(2).fill({ to: { machine: 'sandbox', id: other(2) }, event }));
  });

  it('never pauses a sandbox where an agent works', async () => {
    const around = await full('pause_longest_idle');
    const { placement, records, deployment } = around.world;
    for (const index of [1, 2]) {
      const working = {
        ...PLACE,
        conversationId: around.world.keys.conversationIdOf({ runId: 'r', key: 'k', attempt: index }),
      };
      const request = {
        ...working,
        sandboxId: other(index),
        newSandboxId: SANDBOX,
        limits: deployment.capacity,
        now: T0,
      };
      expect(await placement.place(request)).toMatchObject({ kind: 'placed' });
      await records.project([
        conversationRow(working.conversationId, {
          sandboxId: other(index),
          executionStatus: 'RUNNING',
          userId: USER,
        }),
      ]);
    }
    expect(await attempt(around, order)).toMatchObject(waits);
    expect(around.told).toEqual([]);
  });
});

it('a placement that was refused is refused to whoever carries it out once more, though a slot is free by then', async () => {
  const around = await full('refuse');
  const refusal = await attempt(around, PLACE);
  await around.world.records.project([sandboxRow(other(1), { sequence: 2, holdsSlot: false })]);
  expect(await attempt(around, PLACE)).toEqual(refusal);
});

it('a sandbox that holds its slot already gets it again', async () => {
  const around = await full('refuse');
  await around.world.records.project([sandboxRow(other(1), { sequence: 2, transition: 'resuming' })]);
  expect(await attempt(around, { ...RESERVE, sandboxId: other(1) })).toEqual({
    type: 'slotGranted',
    commandId: 's#1',
  });
});

it('a resume of an item of a run waits, whatever the policy', async () => {
  const around = await full('refuse');
  expect(await attempt(around, { ...RESERVE, inRun: true })).toEqual({
    type: 'slotWaits',
    commandId: 's#1',
    detail: 'capacity (2 of 2 in use)',
  });
  await around.world.records.project([sandboxRow(other(1), { sequence: 2, holdsSlot: false })]);
  await answerOf(around, { type: 'offerRoom', id: 's#2', sandboxId: other(1) });
  expect(around.told).toEqual([{ to: { machine: 'sandbox', id: SANDBOX }, event: { type: 'roomOffered' } }]);
  expect(await attempt(around, { ...RESERVE, inRun: true })).toMatchObject({ type: 'slotGranted' });
});
