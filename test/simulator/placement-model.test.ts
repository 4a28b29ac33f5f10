/** The model of placement answers the same when a command is carried out once more, as the store does. */
import { describe, expect, it } from 'vitest';
import type { CommandOf } from '../../core/machine/command.ts';
import { sandboxId } from '../../core/ids.ts';
import { conversationIdNamed } from '../../simulator/models/derived-id.ts';
import type { Policy } from '../../simulator/models/model-options.ts';
import { PlacementModel } from '../../simulator/models/placement-model.ts';
import { SIMULATED_USER } from '../../simulator/models/run-model.ts';
import { POLICY } from '../conformance/script-parts.ts';

type Place = CommandOf<'placeConversation'>;

function order(name: string, change: Partial<Place> = {}): Place {
  return {
    type: 'placeConversation',
    id: `conversation/${name}#1`,
    conversationId: conversationIdNamed(name),
    userId: SIMULATED_USER,
    strategy: 'NO_GROUPING',
    sandboxId: null,
    excluded: [],
    ...change,
  };
}

/** Room for one sandbox, and a conversation in it. */
function full(onFull: Policy['onFull']) {
  const placement = new PlacementModel({
    ...POLICY,
    onFull,
    capacity: { ...POLICY.capacity, userMax: 1 },
  });
  const place = (command: Place) => placement.place(command, { now: 0, lastActivityAt: () => 0 });
  expect(place(order('first'))).toMatchObject({ kind: 'placed' });
  return { placement, place };
}

describe('PlacementModel', () => {
  it('refuses again whom the policy has refused, though a slot is free by then', () => {
    const { placement, place } = full('refuse');
    const refusal = place(order('second'));
    expect(refusal).toMatchObject({ refusal: { code: 'concurrency_limit_reached' } });
    placement.detach(conversationIdNamed('first'));
    expect(place(order('second'))).toEqual(refusal);
    expect(placement.slots.holders.size).toBe(0);
    expect(place(order('third'))).toMatchObject({ kind: 'placed' });
  });

  it('places whoever waits for a slot as soon as one is free', () => {
    const { placement, place } = full('queue');
    expect(place(order('second'))).toMatchObject({ kind: 'waits', slots: { position: 1, ofRun: null } });
    placement.detach(conversationIdNamed('first'));
    expect(place(order('third'))).toMatchObject({ kind: 'waits', slots: { position: 1 } });
    expect(place(order('second'))).toMatchObject({ kind: 'placed' });
  });

  it('refuses again a sandbox that it does not know, whatever the policy', () => {
    const { placement, place } = full('queue');
    const explicit = order('second', { sandboxId: sandboxId('f'.repeat(32)) });
    const refusal = place(explicit);
    expect(refusal).toMatchObject({ refusal: { code: 'not_found' } });
    placement.detach(conversationIdNamed('first'));
    expect(place({ ...explicit, sandboxId: null })).toEqual(refusal);
  });

  it('gives the place that was refused back, also when the next placement fails', () => {
    const { placement, place } = full('queue');
    const home = placement.homeOf(conversationIdNamed('first'));
    const again = order('first', { excluded: home === null ? [] : [home] });
    const failed = placement.place(again, { now: 0, lastActivityAt: () => 0, fails: true });
    expect(failed).toMatchObject({ kind: 'refused', leftBehind: home });
    expect(placement.slots.holders.size).toBe(0);
    expect(place(again)).toMatchObject({ kind: 'refused', leftBehind: home });
  });

  it('says again where it has placed somebody, and does not fail then', () => {
    const { placement } = full('queue');
    const poll = { now: 0, lastActivityAt: () => 0, fails: true };
    expect(placement.place(order('first'), poll)).toMatchObject({ kind: 'placed', created: true });
  });

  it('places nobody any more who was told to leave only', () => {
    const { placement, place } = full('queue');
    const home = placement.homeOf(conversationIdNamed('first'));
    const excluded = home === null ? [] : [home];
    expect(place(order('first', { excluded, onlyLeaves: true }))).toMatchObject({ leftBehind: home });
    expect(place(order('first'))).toMatchObject({ refusal: { code: 'placement_failed' } });
    expect(placement.slots.holders.size).toBe(0);
  });
});
