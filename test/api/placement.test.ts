/** Why a conversation is where it is, for its owner: the rule, what was seen, and one sentence (D16). */
import { expect, it } from 'vitest';
import { placementText } from '../../core/placement/placement-text.ts';
import { runId, sandboxId } from '../../core/ids.ts';
import { openService, startReady } from './service.ts';

it('is told for a new sandbox, for one that was chosen by name or by rule, and to nobody else', async () => {
  const service = await openService();
  const placement = async (id: string, key = service.ada) =>
    await service.call({ path: `/api/v1/app-conversations/${id}/placement`, key });
  const first = await startReady(service);
  expect((await placement(first.id)).body).toEqual({
    ...{ rule: 'NO_GROUPING', sandbox_id: null, seen: [], booted_at: null, pool: null },
    summary: 'NO_GROUPING: a new sandbox; no other was seen',
  });
  const named = await startReady(service, { sandbox_id: first.sandboxId });
  expect((await placement(named.id)).body).toMatchObject({
    ...{ rule: 'EXPLICIT', sandbox_id: first.sandboxId },
    summary: expect.stringContaining(`EXPLICIT: sandbox ${first.sandboxId}`),
  });
  await service.call({
    ...{ method: 'POST', path: '/api/v1/settings' },
    body: { sandbox_grouping_strategy: 'ADD_TO_ANY' },
  });
  const joined = await startReady(service);
  expect((await placement(joined.id)).body).toMatchObject({
    ...{ rule: 'ADD_TO_ANY', sandbox_id: first.sandboxId },
    seen: [{ sandbox_id: first.sandboxId, why: 'available' }],
    summary: `ADD_TO_ANY: sandbox ${first.sandboxId}; of 1 seen, 1 available`,
  });
  expect((await placement(first.id, service.ben)).status).toBe(404);
});

it('counts what was seen, and tells of pools and warm sandboxes', () => {
  const ids = ['a', 'b', 'c'].map((one) => sandboxId(one.repeat(32)));
  const [one = sandboxId(''), two = sandboxId(''), three = sandboxId('')] = ids;
  const decision = { rule: 'GROUP_BY_NEWEST', chosen: null, bootedAt: 1 } as const;
  const seen = [
    { sandboxId: one, why: 'full' },
    { sandboxId: two, why: 'session_ends_soon' },
    { sandboxId: three, why: 'full' },
  ] as const;
  expect(placementText({ ...decision, seen })).toBe(
    'GROUP_BY_NEWEST: a warm sandbox; of 3 seen, 2 full, 1 session ends soon',
  );
  const pool = { poolId: runId('r'), living: 2, spilled: true };
  expect(placementText({ ...decision, seen: [], pool })).toContain('because all 2 of the pool are full');
});
