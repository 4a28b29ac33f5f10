/** Where conversations land: the user's setting, and the explicit choice. */
import { describe, expect, it } from 'vitest';
import { eventually, openService, startReady, type Service } from '../../api/service.ts';

const SETTINGS = '/api/v1/settings';

async function group(service: Service, strategy: string, key?: string): Promise<void> {
  const answer = await service.call({
    method: 'POST',
    path: SETTINGS,
    body: { sandbox_grouping_strategy: strategy },
    ...(key === undefined ? {} : { key }),
  });
  expect(answer.status).toBe(200);
}

async function sandboxUp(service: Service): Promise<string> {
  const { body } = await service.call({ method: 'POST', path: '/api/v1/sandboxes' });
  expect(body.status).toBe('STARTING');
  const [row] = await eventually(
    async () => (await service.call({ path: `/api/v1/sandboxes?id=${body.id}` })).body,
    ([one]) => one.status === 'RUNNING',
  );
  return row.id as string;
}

describe('the grouping strategy', () => {
  it('C6, C9, C14: no grouping makes a sandbox for each; the setting is of its user alone', async () => {
    const service = await openService();
    expect((await service.call({ path: SETTINGS })).body.sandbox_grouping_strategy).toBe('NO_GROUPING');
    const [one, two] = [await startReady(service), await startReady(service)];
    expect(one.sandboxId).not.toBe(two.sandboxId);
    await group(service, 'add_to_any', service.ben);
    const limits = (await service.call({ path: SETTINGS })).body;
    expect([limits.sandbox_grouping_strategy, limits.limits.sandboxes]).toEqual(['NO_GROUPING', 50]);
  });

  it('C10, C11, C12, C13: newest, least recently used, fewest and any choose among those that are up', async () => {
    const service = await openService();
    const [old, mid, young] = [await sandboxUp(service), await sandboxUp(service), await sandboxUp(service)];
    await startReady(service, { sandbox_id: young });
    await startReady(service, { sandbox_id: old });
    // The one in the middle is empty; all were used, and the one in the middle the longest ago.
    const now = Date.now();
    await service.store.activity.touch(old as never, now + 3_000);
    await service.store.activity.touch(young as never, now + 2_000);
    const chosen: string[] = [];
    for (const strategy of ['GROUP_BY_NEWEST', 'LEAST_RECENTLY_USED', 'FEWEST_CONVERSATIONS', 'ADD_TO_ANY']) {
      await group(service, strategy);
      const { id, sandboxId } = await startReady(service);
      chosen.push(sandboxId);
      await service.call({ method: 'DELETE', path: `/api/v1/app-conversations/${id}` });
      await eventually(
        async () => (await service.call({ path: `/api/v1/app-conversations?ids=${id}` })).body[0],
        (row) => row === null,
      );
    }
    expect(chosen).toEqual([young, mid, mid, old]);
  });

  it('C4, C7, C15: grouped conversations share a sandbox, whatever its agents are at, and keep histories apart', async () => {
    const service = await openService();
    await group(service, 'GROUP_BY_NEWEST');
    service.agent.outcome = 'RUNNING';
    const message = (text: string) => ({ initial_message: { content: [{ type: 'text', text }] } });
    const [one, two] = [await startReady(service, message('one')), await startReady(service, message('two'))];
    expect(two.sandboxId).toBe(one.sandboxId);
    for (const [{ id }, text] of [
      [one, 'one'],
      [two, 'two'],
    ] as const) {
      const { body } = await eventually(
        () => service.call({ path: `/api/v1/conversation/${id}/events/search?kind__eq=MessageEvent` }),
        (answer) => answer.body.items.length > 0,
      );
      expect(body.items.map((event: { llm_message: unknown }) => event.llm_message)).toEqual([
        { content: text },
      ]);
    }
  });
});

describe('an explicit sandbox', () => {
  it('C8, C16, C28, C83: overrides the setting, and the completed start task names it', async () => {
    const service = await openService();
    const sandbox = await sandboxUp(service);
    const { sandboxId } = await startReady(service, { sandbox_id: sandbox });
    expect(sandboxId).toBe(sandbox);
  });

  it('that is unknown or foreign ends the start task in ERROR with the same reason', async () => {
    const service = await openService();
    const own = await sandboxUp(service);
    const details: string[] = [];
    for (const id of ['0'.repeat(32), own]) {
      const { body } = await service.call({
        method: 'POST',
        path: '/api/v1/app-conversations',
        body: { sandbox_id: id },
        key: service.ben,
      });
      const [task] = await eventually(
        async () =>
          (
            await service.call({
              path: `/api/v1/app-conversations/start-tasks?ids=${body.id}`,
              key: service.ben,
            })
          ).body,
        ([one]) => one.status === 'ERROR',
      );
      details.push((task.detail as string).replace(id, 'ID'));
    }
    expect(details[1]).toBe(details[0]);
    expect(details[0]).toContain('not_found');
  });
});
