/** Items of a run as the server filters, orders and shows them, over more than one page can hold. */
import { expect, it } from 'vitest';
import { CHECK_LOG, checkLog } from '../../activities/check-log.ts';
import { PATCH_FILE } from '../../activities/collect/diff.ts';
import { SHA256 } from '../../host/job/job-file.ts';
import { runId } from '../../core/ids.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { hashPlan } from '../../dsl/plan/plan-text.ts';
import { demoPlan } from '../cli/rows.ts';
import { runItemRow, runRow } from '../contract/store-rows.ts';
import { openService } from './service.ts';

const BIG = runId('big-1');
const COUNT = 250;
const keyOf = (index: number): string => `item-${String(index).padStart(3, '0')}`;

async function serviceWithBigRun() {
  const service = await openService();
  const [first] = demoPlan().items;
  if (first === undefined) throw new Error('the demo has an item');
  const items = Array.from({ length: COUNT }, (_, index) => ({
    ...first,
    ...{ key: keyOf(index), index, prompt: `Do ${index}.`, model: index % 2 === 0 ? 'coder' : 'small' },
    tags: { shard: String(index % 10) },
    verify: { command: 'npm test', timeoutMs: 1_000 },
  }));
  const { hash: _hash, ...rest } = { ...demoPlan(), items };
  const plan: Plan = { ...rest, hash: hashPlan(rest, SHA256) };
  await service.store.plans.putPlan(BIG, plan);
  await service.store.records.project([
    runRow({ runId: BIG, name: 'big', planHash: plan.hash, total: COUNT, createdAt: 1_000 }),
    ...items.map(({ key, index }) =>
      runItemRow(key, {
        ...{ runId: BIG, phase: 'ended', outcome: index % 50 === 0 ? 'failed' : 'succeeded' },
        ...{ costNanoUsd: (index * 7) % COUNT, admittedAt: 0, endedAt: 1_000 + index },
      }),
    ),
  ]);
  const key = await service.issue('local');
  const get = async (path: string) =>
    (await service.call({ path: `/api/v1/runs/big-1/items/${path}`, key })).body;
  return { service, key, get };
}

it('has each item once over all pages, dearest first, and by what its plan says', async () => {
  const { get } = await serviceWithBigRun();
  const costs: number[] = [];
  let page = '';
  for (;;) {
    const body = await get(`search?sort_order=cost&descending=true&limit=100${page}`);
    costs.push(...body.items.map((item: { cost_nano_usd: number }) => item.cost_nano_usd));
    if (body.next_page_id === null) break;
    page = `&page_id=${body.next_page_id}`;
  }
  expect(costs).toEqual(Array.from({ length: COUNT }, (_, index) => COUNT - 1 - index));
  const failed = await get('search?state=failed&sort_order=KEY');
  expect(failed.items.map((item: { key: string }) => item.key)).toEqual([0, 50, 100, 150, 200].map(keyOf));
  const narrow = await get('search?model=small&tag=shard%3D3&key__contains=ITEM-24');
  expect(narrow.items).toMatchObject([
    { key: keyOf(243), model: 'small', repository: null, tags: { shard: '3' }, outcome: 'succeeded' },
  ]);
  expect((await get('search?tag=shard')).code).toBe('invalid_request');
  expect((await get('search?state=nothing')).code).toBe('invalid_request');
});

it('shows prompt, check and changes of one item, and the beginning of what is too long', async () => {
  const { service, key, get } = await serviceWithBigRun();
  const write = (name: string, text: string) =>
    service.world.results.write({ runId: BIG, key: keyOf(1), name }, new TextEncoder().encode(text));
  await write(CHECK_LOG, checkLog(1, 'two tests fail'));
  await write(PATCH_FILE, '+'.repeat(500_000));
  const evidence = await get(`evidence?item=${keyOf(1)}`);
  expect(evidence).toMatchObject({
    ...{ key: keyOf(1), prompt: 'Do 1.', check_command: 'npm test' },
    check_output: { text: 'exit code 1\ntwo tests fail', is_cut: false },
  });
  expect([evidence.patch.text.length, evidence.patch.is_cut]).toEqual([400_000, true]);
  expect(await get(`evidence?item=${keyOf(2)}`)).toMatchObject({ check_output: null, patch: null });
  expect((await get('evidence?item=nothing')).code).toBe('not_found');
  const foreign = { path: `/api/v1/runs/big-1/items/evidence?item=${keyOf(1)}`, key: service.ben };
  expect((await service.call(foreign)).status).toBe(404);
  expect(
    (await service.call({ path: '/api/v1/runs/search?name=big&state=open', key })).body.items,
  ).toMatchObject([{ id: 'big-1' }]);
  for (const query of ['name=other', 'name=big&state=finished'])
    expect((await service.call({ path: `/api/v1/runs/search?${query}`, key })).body.items).toEqual([]);
});
