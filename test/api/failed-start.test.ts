/** A start that fails: its reason in its task, record and events, and nothing that goes on running for it. */
import { describe, expect, it } from 'vitest';
import { serveFirst } from './first-service.ts';
import { callServed } from './served.ts';
import { eventually, openService, startReady, type ServiceCall } from './service.ts';

const APP = '/api/v1/app-conversations';
const ALL_MS_MAX = 600_000;

type Ask = (call: ServiceCall) => Promise<{ readonly body: any }>; // eslint-disable-line @typescript-eslint/no-explicit-any -- every answer has another shape

/** Of a start whose clone fails: what its task, record, events and sandbox say. */
async function failing(ask: Ask, body: object) {
  const { body: task } = await ask({ method: 'POST', path: APP, body });
  const ended = await eventually(
    async () => (await ask({ path: `${APP}/start-tasks?ids=${task.id}` })).body[0],
    ({ status }) => status === 'ERROR' || status === 'READY',
  );
  const { id } = (await ask({ path: `${APP}/search` })).body.items[0];
  const record = async () => (await ask({ path: `${APP}?ids=${id}` })).body[0];
  const events = await eventually(
    async () => (await ask({ path: `/api/v1/conversation/${id}/events/search` })).body.items,
    ({ length }) => length > 0,
  );
  return { ended, id: id as string, record, events };
}

describe('a start without a model', () => {
  it('takes the first that is configured, whoever else is there', async () => {
    const service = await openService();
    const modelOf = async (body: object) => {
      const { id } = await startReady(service, body);
      return (await service.call({ path: `${APP}?ids=${id}` })).body[0].llm_model;
    };
    expect([await modelOf({}), await modelOf({ llm_model: 'small' })]).toEqual(['coder', 'small']);
    Object.assign(service.application, { models: ['*', 'second'] });
    expect(await modelOf({})).toBe('second');
    Object.assign(service.application, { models: ['*'] });
    expect(await modelOf({})).toBeNull();
  });
});

describe('a start whose clone fails', () => {
  it(
    'in a real service: names the reason on task, record and event, and leaves no sandbox running',
    async () => {
      const served = await serveFirst(
        'code_hosts: { local: { url: "file:///nowhere/{owner}/{repo}.git", default: true } }\n',
      );
      const ask: Ask = (call) => callServed(served, served.key ?? '', call);
      const { ended, record, events } = await failing(ask, { selected_repository: 'no/such' });
      expect(ended).toMatchObject({
        status: 'ERROR',
        detail: expect.stringMatching(/^repository_failed: .*no\/such/),
      });
      expect(await record()).toMatchObject({
        start_task_status: 'ERROR',
        start_task_detail: ended.detail,
        llm_model: 'coder',
      });
      expect(events).toMatchObject([
        { kind: 'ConversationErrorEvent', source: 'environment', code: 'start_failed', detail: ended.detail },
      ]);
      await eventually(
        record,
        ({ sandbox_status, transition }) => sandbox_status === 'PAUSED' && transition === null,
      );
      expect(await record()).toMatchObject({ pause_reason: 'idle' });
    },
    ALL_MS_MAX,
  );

  it('leaves a sandbox running that somebody else is in, or that its user has made', async () => {
    const service = await openService();
    const failed = (body: object) =>
      failing((call) => service.call(call), { selected_repository: 'no/such', ...body });
    const { sandboxId } = await startReady(service);
    expect((await failed({ sandbox_id: sandboxId })).ended.status).toBe('ERROR');
    const { body: own } = await service.call({ method: 'POST', path: '/api/v1/sandboxes' });
    expect((await failed({ sandbox_id: own.id })).ended.status).toBe('ERROR');
    for (const id of [sandboxId, own.id])
      expect((await service.call({ path: `/api/v1/sandboxes?id=${id}` })).body[0].status).toBe('RUNNING');
  });

  it('hides the value of a secret in the event, too', async () => {
    const service = await openService();
    const secrets = { TOKEN: 'no-such-repository' };
    const { events } = await failing((call) => service.call(call), {
      ...{ secrets, selected_repository: 'no/no-such-repository' },
    });
    expect(JSON.stringify(events)).not.toContain(secrets.TOKEN);
  });
});
