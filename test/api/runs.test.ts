/** Reading runs over the API: page by page, one, its items, what happened, and nothing for other users. */
import { expect, it } from 'vitest';
import { SCORES_FILE, scoresText } from '../../activities/score-file.ts';
import { runId } from '../../core/ids.ts';
import { runItemRow, runRow } from '../contract/store-rows.ts';
import { openService } from './service.ts';

const NIGHTLY = runId('nightly-1');

async function serviceWithRuns() {
  const service = await openService();
  const { records, lifecycle } = service.store;
  await records.project([
    runRow({
      runId: NIGHTLY,
      name: 'nightly',
      total: 2,
      inFlight: 1,
      spentNanoUsd: 12_345,
      createdAt: 1_000,
      ended: { succeeded: 1 },
    }),
    runRow({ runId: runId('older-1'), name: 'older', createdAt: 500 }),
    runItemRow('first', {
      runId: NIGHTLY,
      phase: 'ended',
      outcome: 'succeeded',
      costNanoUsd: 12_345,
      admittedAt: 1_000,
      endedAt: 2_000,
    }),
    runItemRow('second', {
      runId: NIGHTLY,
      phase: 'working',
      outcome: null,
      costNanoUsd: null,
      admittedAt: 1_500,
      endedAt: null,
    }),
  ]);
  const about = { machine: 'run', id: NIGHTLY } as const;
  await lifecycle.record(
    { about, conversationId: null, code: 'budget_half', detail: 'half is spent' },
    1_700,
  );
  return { service, local: await service.issue('local') };
}

it('shows runs newest first and page by page, with their items and events', async () => {
  const { service, local: key } = await serviceWithRuns();
  const get = async (path: string) => (await service.call({ path, key })).body;
  const first = await get('/api/v1/runs/search?limit=1');
  expect(first.items.map(({ id }: { id: string }) => id)).toEqual(['nightly-1']);
  const second = await get(`/api/v1/runs/search?limit=1&page_id=${first.next_page_id}`);
  expect([second.items[0].id, second.next_page_id]).toEqual(['older-1', null]);
  expect(await get('/api/v1/runs/nightly-1')).toMatchObject({
    ...{ name: 'nightly', total: 2, in_flight: 1, ended: { succeeded: 1 }, spent_nano_usd: 12_345 },
    created_at: '1970-01-01T00:00:01.000Z',
  });
  const { items } = await get('/api/v1/runs/nightly-1/items/search');
  const one = await get('/api/v1/runs/nightly-1/items/search?limit=1');
  const other = await get(`/api/v1/runs/nightly-1/items/search?limit=1&page_id=${one.next_page_id}`);
  expect([...one.items, ...other.items, other.next_page_id]).toEqual([...items, null]);
  expect(items).toMatchObject([
    { key: 'first', outcome: 'succeeded', cost_nano_usd: 12_345, ended_at: '1970-01-01T00:00:02.000Z' },
    { key: 'second', phase: 'working', outcome: null, cost_nano_usd: null, ended_at: null },
  ]);
  expect(await get('/api/v1/runs/nightly-1/events')).toEqual([
    { at: '1970-01-01T00:00:01.700Z', code: 'budget_half', detail: 'half is spent' },
  ]);
});

it('shows the numbers that were said about an item which was judged, and none of an earlier attempt', async () => {
  const { service, local: key } = await serviceWithRuns();
  const score = { name: 'size', value: 2_100, at_most: 2_048, problem: '2100 is more than 2048' };
  const content = new TextEncoder().encode(
    scoresText([score, { name: 'told', value: null, problem: 'none' }]),
  );
  for (const item of ['first', 'second'])
    await service.world.results.write({ runId: NIGHTLY, key: item, name: SCORES_FILE }, content);
  const { items } = (await service.call({ path: '/api/v1/runs/nightly-1/items/search', key })).body;
  expect(items.map(({ scores }: { scores: unknown }) => scores)).toEqual([
    [
      { ...score, at_least: null },
      { name: 'told', value: null, at_least: null, at_most: null, problem: 'none' },
    ],
    [],
  ]);
});

it('shows the trouble that a run and an item are in while it lasts', async () => {
  const { service, local: key } = await serviceWithRuns();
  const { troubles } = service.store;
  const get = async (path: string) =>
    (await service.call({ path: `/api/v1/runs/nightly-1${path}`, key })).body;
  const about = { about: { machine: 'run', id: NIGHTLY }, item: 'second', what: 'collectItem' } as const;
  const now = Date.now();
  await troubles.failed({ ...about, cause: 'disk_full: no room', tries: 1, nextAt: now + 500, at: now });
  const trouble = {
    ...{ what: 'collectItem', cause: 'disk_full: no room', tries: 1 },
    ...{ since: new Date(now).toISOString(), next_at: new Date(now + 500).toISOString() },
  };
  expect((await get('')).trouble).toEqual(trouble);
  const shown = (await get('/items/search')).items as readonly { readonly trouble: unknown }[];
  expect(shown.map((item) => item.trouble)).toEqual([null, trouble]);
  await troubles.over(about, now + 1);
  expect([(await get('')).trouble, (await get('/items/search')).items[1].trouble]).toEqual([null, null]);
});

it('shows nobody else a run, not even that there is one', async () => {
  const { service } = await serviceWithRuns();
  const { body } = await service.call({ path: '/api/v1/runs/search', key: service.ben });
  expect(body).toEqual({ items: [], next_page_id: null });
  for (const path of ['nightly-1', 'nightly-1/items/search', 'nightly-1/events', 'no-such-run']) {
    const { status, body: error } = await service.call({ path: `/api/v1/runs/${path}`, key: service.ben });
    expect([path, status, error]).toEqual([path, 404, { detail: 'Run not found', code: 'not_found' }]);
  }
  expect((await service.call({ path: '/api/v1/runs/..%2Fx' })).status).toBe(422);
});
