/** Statuses and what moves them, seen through the service. */
import { describe, expect, it } from 'vitest';
import { sandboxMachine } from '../../../core/sandbox/machine.ts';
import { sandboxId as asSandboxId, userId } from '../../../core/ids.ts';
import { EXECUTION_STATUSES } from '../../../core/status.ts';
import { HOUR_MS } from '../../../core/time.ts';
import { eventually, openService, startReady, type Service } from '../../api/service.ts';

const APP = '/api/v1/app-conversations';
const message = (text: string) => ({ content: [{ type: 'text', text }] });

const record = async (service: Service, id: string) =>
  (await service.call({ path: `${APP}?ids=${id}` })).body[0];
const sandbox = async (service: Service, id: string) =>
  (await service.call({ path: `/api/v1/sandboxes?id=${id}` })).body[0];

async function say(service: Service, id: string, text: string, headers = {}) {
  return await service.call({
    method: 'POST',
    path: `${APP}/${id}/send-message`,
    body: message(text),
    headers,
  });
}

async function tell(service: Service, id: string, verb: 'pause' | 'resume') {
  return await service.call({ method: 'POST', path: `/api/v1/sandboxes/${id}/${verb}` });
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- a record as it came
const released = (row: any): boolean => row.pause_reason !== null && row.transition === null;

describe('statuses of an agent', () => {
  it('C55, C56, C57, C58, C59, C60, C61: are shown as the agent says them', async () => {
    const service = await openService();
    for (const status of EXECUTION_STATUSES) {
      service.agent.outcome = status;
      const { id } = await startReady(service, { initial_message: message('go') });
      const row = await eventually(
        () => record(service, id),
        (one) => one.execution_status === status && one.queued_messages === 0,
      );
      expect(row.execution_status_at).toMatch(/Z$/);
    }
  });
});

describe('statuses of a sandbox', () => {
  it('C39, C44: STARTING takes no message, and the boot makes it RUNNING', async () => {
    const service = await openService();
    const { start } = service.runtime;
    let boot: () => void = () => undefined;
    const booted = new Promise<void>((resolve) => (boot = resolve));
    service.runtime.start = async (request) => {
      await booted;
      return await start.call(service.runtime, request);
    };
    const { body: task } = await service.call({ method: 'POST', path: APP, body: {} });
    const [found] = await eventually(
      async () => (await service.call({ path: `${APP}/search` })).body.items,
      ([one]) => one?.sandbox_id != null,
    );
    expect(found.sandbox_status).toBe('STARTING');
    const refused = await say(service, found.id as string, 'too early');
    expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([
      409,
      'sandbox_starting',
      '5',
    ]);
    const queued = await service.call({
      method: 'POST',
      path: `/api/v1/conversations/task-${task.id}/pending-messages`,
      body: message('when ready'),
    });
    expect([queued.status, queued.body]).toEqual([
      201,
      expect.objectContaining({ queued: true, position: 1 }),
    ]);
    boot();
    await eventually(
      () => Promise.resolve(service.agent.messages.map(({ text }) => text)),
      (texts) => texts.includes('when ready'),
    );
    expect((await record(service, found.id as string)).sandbox_status).toBe('RUNNING');
  });

  it('C40, C41, C45: an agent that waits makes it PAUSED with the runtime up, and an answer RUNNING again', async () => {
    const service = await openService();
    service.agent.outcome = 'WAITING_FOR_CONFIRMATION';
    const { id, sandboxId } = await startReady(service, { initial_message: message('risky') });
    await eventually(
      () => sandbox(service, sandboxId),
      (row) => row.status === 'PAUSED' && row.pause_reason === 'confirmation',
    );
    expect((await sandbox(service, sandboxId)).session_api_key).not.toBeNull();
    const answered = await service.call({
      method: 'POST',
      path: `${APP}/${id}/confirmation`,
      body: { accept: true },
    });
    expect(answered.status).toBe(200);
    await eventually(
      () => sandbox(service, sandboxId),
      (row) => row.status === 'RUNNING',
    );
  });

  it('C42, C46: a failure for good makes it ERROR: history is read, nothing is sent', async () => {
    const service = await openService();
    const { id, sandboxId } = await startReady(service, { initial_message: message('go') });
    service.runtime.presences.set(sandboxId as never, { kind: 'crashed', generation: 1, reason: 'killed' });
    await eventually(
      () => record(service, id),
      (row) => row.sandbox_status === 'ERROR' && row.transition === null,
    );
    const answers = [
      await say(service, id, 'hello'),
      await tell(service, sandboxId, 'resume'),
      await tell(service, sandboxId, 'pause'),
      await service.call({ path: `${APP}/${id}/file?file_path=a.txt` }),
    ];
    expect(answers.map(({ status, body }) => [status, body.code])).toEqual(
      answers.map(() => [409, 'sandbox_error']),
    );
    const events = await service.call({ path: `/api/v1/conversation/${id}/events/count` });
    expect(events.body).toBeGreaterThan(0);
  });

  it('C37, C38, C43, C47, C54, C81, C86: a deletion archives, then makes it MISSING, and keeps the transcript', async () => {
    const service = await openService();
    const { id, sandboxId } = await startReady(service, { initial_message: message('go') });
    const path = `/api/v1/sandboxes/${sandboxId}?sandbox_id=${sandboxId}`;
    expect((await service.call({ method: 'DELETE', path })).body).toEqual({ success: true });
    await eventually(
      () => record(service, id),
      (row) => row.sandbox_status === 'MISSING',
    );
    expect(service.runtime.log.at(-1)).toBe('destroy');
    expect(await service.store.archives.archives(sandboxId as never)).toHaveLength(1);
    const [sent, resumed, read, impact, again] = [
      await say(service, id, 'hello'),
      await tell(service, sandboxId, 'resume'),
      await service.call({ path: `${APP}/${id}/file?file_path=a.txt` }),
      await service.call({ path: `/api/v1/sandboxes/${sandboxId}/impact` }),
      await service.call({ method: 'DELETE', path }),
    ];
    const statuses = [sent, resumed, read, impact, again].map(({ status }) => status);
    expect(statuses).toEqual([410, 409, 410, 410, 200]);
    const { body } = await service.call({ path: `/api/v1/conversation/${id}/events/search` });
    expect(body.items.length).toBeGreaterThan(0);
    expect(JSON.stringify((await service.call({ path: '/openapi.json' })).body.paths)).not.toContain(
      'archive/',
    );
  });

  it('C48, C49, C91: without activity for the Idle Time it is released, and the next message brings it back once', async () => {
    const limits = { idleTimeMs: 400, deletionTimeMs: null };
    const service = await openService({ deployment: { limits } });
    const { id, sandboxId } = await startReady(service, { initial_message: message('go') });
    // The agent itself says that nothing happened for long; what is asked of it counts on this side.
    service.agent.idle = 1_000;
    const idle = await eventually(() => sandbox(service, sandboxId), released);
    // From here on it is at work, however long a step takes.
    service.agent.idle = 0;
    expect([idle.status, idle.pause_reason, idle.session_api_key]).toEqual(['PAUSED', 'idle', null]);
    const first = await say(service, id, 'wake up', { 'idempotency-key': 'm-1' });
    expect(first.body).toMatchObject({ success: true, sandbox_status: 'PAUSED', message_id: 'm-1' });
    expect(first.body.message).toContain('resuming');
    await say(service, id, 'wake up', { 'idempotency-key': 'm-1' });
    await eventually(
      () => Promise.resolve(service.agent.messages.length),
      (count) => count >= 2,
    );
    expect(service.agent.messages.map(({ text }) => text)).toEqual(['go', 'wake up']);
    expect(service.runtime.started.map(({ generation }) => generation)).toContain(2);
  });

  it('C50, C92: released for the Deletion Time it is deleted for good', async () => {
    const limits = { idleTimeMs: null, deletionTimeMs: 300 };
    const service = await openService({ deployment: { limits } });
    const { id, sandboxId } = await startReady(service);
    await tell(service, sandboxId, 'pause');
    await eventually(
      () => record(service, id),
      (row) => row.sandbox_status === 'MISSING',
    );
    expect((await tell(service, sandboxId, 'resume')).status).toBe(409);
  });

  it('C51, C93: after 12 hours a session is force-paused, and a resume opens a new window', () => {
    const spec = {
      sandboxId: asSandboxId('5'.repeat(32)),
      userId: userId('ada'),
      createdBy: 'api',
      limits: { idleTimeMs: null, deletionTimeMs: null },
    } as const;
    const created = sandboxMachine.step(null, { type: 'created', spec }, 1_000).state;
    const up = sandboxMachine.step(
      created,
      { type: 'sandboxReady', commandId: created?.awaiting ?? '' },
      2_000,
    ).state;
    expect(sandboxMachine.deadline(up)).toBe(2_000 + 12 * HOUR_MS);
    const early = sandboxMachine.step(up, { type: 'deadline' }, 1_999 + 12 * HOUR_MS).state;
    expect(early?.phase).toBe('running');
    const capped = sandboxMachine.step(up, { type: 'deadline' }, 2_000 + 12 * HOUR_MS).state;
    expect([capped?.phase, capped?.releaseReason]).toEqual(['pausing', 'session_limit']);
  });

  it('C52, C53, C79, C80, C84: pause releases it for all its conversations, impact tells which, and resume brings it back', async () => {
    const service = await openService();
    const { id, sandboxId } = await startReady(service);
    const other = await startReady(service, { sandbox_id: sandboxId, title: 'guest' });
    const impact = await service.call({ path: `/api/v1/sandboxes/${sandboxId}/impact` });
    expect(impact.body.conversations.map((one: { id: string }) => one.id).sort()).toEqual(
      [id, other.id].sort(),
    );
    const before = await sandbox(service, sandboxId);
    expect((await tell(service, sandboxId, 'pause')).body).toEqual({ success: true });
    await eventually(() => sandbox(service, sandboxId), released);
    expect((await tell(service, sandboxId, 'pause')).status).toBe(200);
    for (const one of [id, other.id]) expect((await record(service, one)).sandbox_status).toBe('PAUSED');
    expect((await tell(service, sandboxId, 'resume')).body).toEqual({ success: true });
    const after = await eventually(
      () => sandbox(service, sandboxId),
      (row) => row.status === 'RUNNING',
    );
    expect(after.session_api_key).not.toBe(before.session_api_key);
    expect((await tell(service, sandboxId, 'resume')).status).toBe(200);
  });
});
