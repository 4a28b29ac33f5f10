/** Starts that find no free slot: refused before anything exists, or in a queue with a position (D17, D29). */
import { describe, expect, it } from 'vitest';
import { eventually, openService, startReady, type Service } from '../../api/service.ts';

const APP = '/api/v1/app-conversations';
const NO_LIMIT = { burst: 1e9, perSecond: 1e9 };
const STARTS = 200;
const ROOM = 3;

const service = (onFull: 'refuse' | 'queue' | 'pause_longest_idle', userMax = ROOM): Promise<Service> =>
  openService({
    rateLimits: { perKey: NO_LIMIT, refusals: NO_LIMIT },
    deployment: { onFull, capacity: { installationMax: 50, userMax, conversationsPerSandboxMax: 20 } },
  });

interface Task {
  readonly id: string;
  readonly status: string;
  readonly queue_position: number | null;
  readonly sandbox_id: string | null;
  readonly created_at: string;
}

async function tasksOf({ call }: Service): Promise<readonly Task[]> {
  return (await call({ path: `${APP}/start-tasks/search?sort_order=CREATED_AT&limit=100` })).body.items;
}

const counted = async ({ call }: Service, path: string): Promise<number> => (await call({ path })).body;

describe('refuse', () => {
  it(`answers ${STARTS} starts at once with as many 429 as are too many, and leaves nothing of them`, async () => {
    const full = await service('refuse');
    const answers = await Promise.all(
      Array.from({ length: STARTS }, () => full.call({ method: 'POST', path: APP, body: {} })),
    );
    const refused = answers.filter(({ status }) => status === 429);
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(ROOM);
    expect(refused).toHaveLength(STARTS - ROOM);
    for (const { body, headers } of refused) {
      expect(body).toMatchObject({ code: 'concurrency_limit_reached', limit: ROOM, current: ROOM });
      expect(headers.get('retry-after')).toBe('1');
    }
    const tasks = await eventually(
      () => tasksOf(full),
      (all) => all.every(({ status }) => status === 'READY'),
    );
    expect(tasks).toHaveLength(ROOM);
    expect(await counted(full, `${APP}/count`)).toBe(ROOM);
  });

  it('keeps nothing under an idempotency key that was refused: the same start may come again', async () => {
    const full = await service('refuse', 1);
    const first = await startReady(full);
    const again = () =>
      full.call({ method: 'POST', path: APP, body: {}, headers: { 'idempotency-key': 'k-1' } });
    expect((await again()).status).toBe(429);
    expect((await again()).status).toBe(429);
    await full.call({ method: 'DELETE', path: `/api/v1/sandboxes/${first.sandboxId}` });
    const taken = await eventually(again, ({ status }) => status === 200);
    expect((await again()).body.id).toBe(taken.body.id);
  });

  it('needs no slot for a start that shares a sandbox, and none is refused for it', async () => {
    const full = await service('refuse', 1);
    const change = { sandbox_grouping_strategy: 'ADD_TO_ANY' };
    await full.call({ method: 'POST', path: '/api/v1/settings', body: change });
    const first = await startReady(full);
    expect(await startReady(full)).toMatchObject({ sandboxId: first.sandboxId });
  });

  it('refuses a start in a sandbox that is released, which would need a slot to come up', async () => {
    const full = await service('refuse', 1);
    const { sandboxId } = await startReady(full);
    await full.call({ method: 'POST', path: `/api/v1/sandboxes/${sandboxId}/pause` });
    await eventually(
      async () => (await full.call({ path: `/api/v1/sandboxes?id=${sandboxId}` })).body[0],
      ({ status, transition }) => status === 'PAUSED' && transition === null,
    );
    await startReady(full);
    const answer = await full.call({ method: 'POST', path: APP, body: { sandbox_id: sandboxId } });
    expect([answer.status, answer.body.code]).toEqual([429, 'concurrency_limit_reached']);
    expect(await counted(full, `${APP}/start-tasks/count`)).toBe(2);
  });
});

describe('queue', () => {
  /** One after another, so that their order is known. */
  async function waiting(count: number): Promise<{ readonly full: Service; readonly ids: string[] }> {
    const full = await service('queue', 1);
    const ids: string[] = [];
    for (let index = 0; index < count; index += 1)
      ids.push((await full.call({ method: 'POST', path: APP, body: {} })).body.id);
    return { full, ids };
  }

  const standing = async (full: Service, ids: readonly string[]) => {
    const tasks = new Map((await tasksOf(full)).map((task) => [task.id, task]));
    return ids.map((id) => tasks.get(id)?.queue_position ?? tasks.get(id)?.status ?? 'gone');
  };

  it('shows a position, and gives each slot that is free to the next one', async () => {
    const { full, ids } = await waiting(4);
    const at = (expected: unknown[]) =>
      eventually(
        () => standing(full, ids),
        (found) => JSON.stringify(found) === JSON.stringify(expected),
      );
    await at(['READY', 1, 2, 3]);
    const [first] = await tasksOf(full);
    await full.call({ method: 'DELETE', path: `/api/v1/sandboxes/${first?.sandbox_id}` });
    await at(['READY', 'READY', 1, 2]);
  });

  it('takes whoever is deleted out of the queue, and gives it no slot any more', async () => {
    const full = await service('queue', 1);
    await startReady(full);
    const chosen = 'ab'.repeat(16);
    await full.call({ method: 'POST', path: APP, body: { conversation_id: chosen } });
    const { body: last } = await full.call({ method: 'POST', path: APP, body: {} });
    await eventually(
      () => standing(full, [last.id]),
      ([found]) => found === 2,
    );
    await full.call({ method: 'DELETE', path: `${APP}/${chosen}` });
    await eventually(
      () => standing(full, [last.id]),
      ([found]) => found === 1,
    );
    await eventually(
      () => counted(full, `${APP}/start-tasks/count`),
      (count) => count === 2,
    );
    expect((await full.call({ path: '/api/v1/sandboxes/search' })).body.items).toHaveLength(1);
  });

  it('streams the position of a start until it is ready', async () => {
    const full = await service('queue', 1);
    const { sandboxId } = await startReady(full);
    const streamed = full.call({ method: 'POST', path: `${APP}/stream-start`, body: {} });
    await eventually(
      () => tasksOf(full),
      (tasks) => tasks.some(({ queue_position: position }) => position === 1),
    );
    await full.call({ method: 'DELETE', path: `/api/v1/sandboxes/${sandboxId}` });
    const shown = JSON.parse((await streamed).text) as readonly Task[];
    expect(shown.map(({ queue_position: position }) => position)).toContain(1);
    expect(shown.at(-1)).toMatchObject({ status: 'READY', queue_position: null });
  });
});

it('pause_longest_idle makes room for every start, and takes no sandbox more than it needs', async () => {
  const full = await service('pause_longest_idle', 2);
  for (let index = 0; index < 3; index += 1) await startReady(full);
  const { items } = (await full.call({ path: '/api/v1/sandboxes/search' })).body;
  const words = items.map(({ status }: { status: string }) => status);
  expect([...words].sort()).toEqual(['PAUSED', 'RUNNING', 'RUNNING']);
});
