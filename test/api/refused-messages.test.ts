/** A message that was accepted and whose sandbox dies for good before it is delivered: its sender reads that (D7). */
import { expect, it } from 'vitest';
import { sandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { eventually, openService, startReady } from './service.ts';

const APP = '/api/v1/app-conversations';
const POWER = { kind: 'crashed', generation: 1, reason: 'the machine had no power' } as const;
const said = (text: string) => ({ content: [{ type: 'text', text }] });

/** The agent accepts messages and dies before the service can read its events. */
async function mute() {
  const service = await openService();
  const { agent, runtime } = service;
  let taken = 0;
  agent.sendMessage = () => {
    taken += 1;
    return Promise.resolve();
  };
  agent.events = () => Promise.reject(new ParleyError('agent_unreachable', 'Cannot read events: no power'));
  return {
    service,
    async cutPower(id: string) {
      await eventually(
        () => Promise.resolve(taken),
        (count) => count > 0,
      );
      runtime.presences.set(sandboxId(id), POWER);
    },
    events: (id: string) =>
      eventually(
        async () => (await service.call({ path: `/api/v1/conversation/${id}/events/search` })).body.items,
        ({ length }) => length > 0,
      ),
  };
}

it('is told among its events under the id that its sender has', async () => {
  const { service, cutPower, events } = await mute();
  const { id, sandboxId: sandbox } = await startReady(service);
  const path = `${APP}/${id}/send-message`;
  const { status, body } = await service.call({ method: 'POST', path, body: said('hello') });
  expect(status).toBe(200);
  await cutPower(sandbox);
  expect(await events(id)).toMatchObject([
    {
      kind: 'ConversationErrorEvent',
      source: 'environment',
      code: 'message_refused',
      detail: expect.stringMatching(`^${body.message_id}: sandbox_error: `),
    },
  ]);
  expect((await service.call({ path: `${APP}?ids=${id}` })).body[0]).toMatchObject({
    sandbox_status: 'ERROR',
    queued_messages: 0,
  });
});

it('is told of the first message of a start as well', async () => {
  const { service, cutPower, events } = await mute();
  const { id, sandboxId: sandbox } = await startReady(service, { initial_message: said('begin') });
  await cutPower(sandbox);
  expect(await events(id)).toMatchObject([{ code: 'message_refused', source: 'environment' }]);
});
