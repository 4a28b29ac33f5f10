/**
 * One life of a conversation over the API of a real `parley serve`, whichever engine is behind it.
 * Owns the calls and what each must answer; must not know an engine.
 */
import { expect } from 'vitest';
import { callServed, type Served } from './served.ts';
import { eventually, type ServiceCall } from './service.ts';

const APP = '/api/v1/app-conversations';
const SANDBOXES = '/api/v1/sandboxes';
const said = (text: string) => ({ content: [{ type: 'text', text }], run: false });

export const OBSERVED = {
  observability_span_name: 'nightly-refactoring',
  observability_tags: ['nightly', 'search & index'],
  observability_metadata: { team: 'search', attempt: 2, dry: true, sizes: [1, 2.5] },
} as const;

export interface Walked {
  readonly id: string;
  readonly sandboxId: string;
  /** Data lines of the stream, from its beginning to the deletion. */
  readonly frames: readonly string[];
}

/** From start to deletion. @throws where an answer is another one */
export async function walkServed(served: Served, key: string): Promise<Walked> {
  const call = (one: ServiceCall) => callServed(served, key, one);
  const get = async (path: string) => (await call({ path })).body;
  const post = (path: string, body?: unknown) =>
    call({ method: 'POST', path, ...(body === undefined ? {} : { body }) });

  const started = await post(APP, { initial_message: said('first'), tags: { team: 'blue' }, ...OBSERVED });
  expect(started.status).toBe(200);
  const [task] = await eventually(
    () => get(`${APP}/start-tasks?ids=${started.body.id}`),
    ([one]) => one.status === 'READY' || one.status === 'ERROR',
  );
  expect([task.status, task.detail]).toEqual(['READY', null]);
  const { app_conversation_id: id, sandbox_id: sandboxId } = task;
  const frames: string[] = [];
  const streaming = stream(served, key, { id, onFrame: (frame) => void frames.push(frame) });
  await eventually(
    () => Promise.resolve(frames.join('')),
    (text) => text.includes('first'),
  );

  expect((await post(`${APP}/${id}/send-message`, said('second'))).status).toBe(200);
  await eventually(
    () => Promise.resolve(frames.join('')),
    (text) => text.includes('second'),
  );
  const patched = await call({ method: 'PATCH', path: `${APP}/${id}`, body: { tags: { team: 'red' } } });
  expect([patched.status, patched.body.tags]).toEqual([200, { team: 'red' }]);

  // An event of a message may be there before it is known to be delivered, and what waits would end a pause (D7).
  await eventually(
    () => get(`${APP}?ids=${id}`),
    ([row]) => row.queued_messages === 0,
  );
  const sandbox = async () => (await get(`${SANDBOXES}?id=${sandboxId}`))[0];
  const key1 = (await sandbox()).session_api_key;
  expect((await post(`${SANDBOXES}/${sandboxId}/pause`)).status).toBe(200);
  await eventually(sandbox, (row) => row.status === 'PAUSED' && row.transition === null);
  expect((await post(`${SANDBOXES}/${sandboxId}/resume`)).status).toBe(200);
  const back = await eventually(sandbox, (row) => row.status === 'RUNNING' && row.transition === null);
  expect(back.session_api_key).not.toBe(key1);
  // Sent to a released one, a message brings it back by itself (D7).
  await post(`${SANDBOXES}/${sandboxId}/pause`);
  await eventually(sandbox, (row) => row.status === 'PAUSED' && row.transition === null);
  const queued = await post(`${APP}/${id}/send-message`, said('third'));
  expect([queued.status, queued.body.sandbox_status]).toEqual([200, 'PAUSED']);
  await eventually(
    () => Promise.resolve(frames.join('')),
    (text) => text.includes('third'),
  );

  expect((await call({ method: 'DELETE', path: `${APP}/${id}` })).status).toBe(200);
  await eventually(
    () => get(`${APP}?ids=${id}`),
    ([row]) => row === null,
  );
  await eventually(sandbox, (row) => row.status === 'MISSING');
  await streaming;
  return { id, sandboxId, frames };
}

interface Listening {
  readonly id: string;
  onFrame(frame: string): void;
}

/** Until the service ends the stream. */
async function stream({ url }: Served, key: string, { id, onFrame }: Listening): Promise<void> {
  const response = await fetch(`${url}/api/v1/conversation/${id}/events/stream`, {
    headers: { authorization: `Bearer ${key}` },
  });
  expect(response.status).toBe(200);
  const decoder = new TextDecoder();
  for await (const chunk of response.body ?? [])
    onFrame(decoder.decode(chunk as Uint8Array, { stream: true }));
}
