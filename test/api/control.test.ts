/** The control socket: its file is the authority, its schema the bound. */
import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startControlServer, type OwnerDesk } from '../../api/control-server.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Delivery } from '../../ports/notifier.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { callSocket, type SocketAnswer } from './socket-call.ts';

/** What a start, an amendment and work come to is shown by the processes of test/e2e/many-runs.test.ts. */
function deskOf(deliver: OwnerDesk['requests']['deliver']): OwnerDesk {
  return {
    facts: { pid: 1, engine: 'embedded', resultsDir: '/results' },
    requests: { deliver },
    startRun: (id, plan, secrets) => deliver({ started: id, plan, secrets } as never),
    amendRun: (id, event, amended) => deliver({ amended: id, event, plan: amended } as never),
    localApi: () => Promise.resolve('/sockets/api.sock'),
    work: (id, task, request) => Promise.resolve([id, task, request]),
  };
}

async function control(fails = false) {
  const told: Delivery[] = [];
  const socketPath = path.join(tempDir(), 'control.sock');
  writeFileSync(socketPath, '');
  const deliver = (delivery: Delivery): Promise<void> => {
    if (fails) return Promise.reject(new ParleyError('store_unavailable', 'Cannot commit: down'));
    told.push(delivery);
    return Promise.resolve();
  };
  const server = await startControlServer(deskOf(deliver), socketPath);
  onTestFinished(() => server.close());
  const ask = (body: unknown, route = '/control'): Promise<SocketAnswer> =>
    callSocket({ socketPath, path: route, body });
  return { told, socketPath, ask };
}

describe('the control socket', () => {
  it('may be used by its owner only', async () => {
    const { socketPath } = await control();
    const stat = statSync(socketPath);
    expect([stat.isSocket(), stat.mode & 0o777]).toEqual([true, 0o600]);
  });

  it.each([
    { type: 'cancelRequested', requestId: 'q1' },
    { type: 'drainRequested', requestId: 'q2' },
    { type: 'resumeRequested', requestId: 'q3', classes: ['infra', 'timeout'] },
    { type: 'holdRequested', requestId: 'q4', by: 'ann' },
    { type: 'requeueRequested', requestId: 'q5', keys: ['first'] },
    { type: 'settingsChanged', requestId: 'q6', settings: { concurrency: 2, startEveryMs: null } },
    { type: 'cancelRequested', requestId: 'q7', keys: ['first'] },
  ] as const)('tells a run: $type', async (event) => {
    const { told, ask } = await control();
    expect(await ask({ runId: 'run-1', event })).toEqual({ status: 200, body: { accepted: true } });
    expect(told).toEqual([{ to: { machine: 'run', id: 'run-1' }, event }]);
  });

  it.each([
    ['no run', { event: { type: 'cancelRequested', requestId: 'q' } }],
    ['an event of another machine', { runId: 'r', event: { type: 'deleteRequested', requestId: 'q' } }],
    ['an event that only the engine may send', { runId: 'r', event: { type: 'deadline' } }],
    [
      'an unknown failure class',
      { runId: 'r', event: { type: 'resumeRequested', requestId: 'q', classes: ['luck'] } },
    ],
    ['no key to requeue', { runId: 'r', event: { type: 'requeueRequested', requestId: 'q', keys: [] } }],
    [
      'a setting that no run has',
      { runId: 'r', event: { type: 'settingsChanged', requestId: 'q', settings: { speed: 1 } } },
    ],
    [
      'no place at all',
      { runId: 'r', event: { type: 'settingsChanged', requestId: 'q', settings: { concurrency: 0 } } },
    ],
    ['an unknown key', { runId: 'r', event: { type: 'cancelRequested', requestId: 'q', force: true } }],
    ['no body', undefined],
    ['no JSON', '{"runId"'],
  ])('refuses %s', async (_, body) => {
    const { told, ask } = await control();
    expect(await ask(body)).toEqual({
      status: 422,
      body: { detail: expect.any(String), code: 'invalid_request' },
    });
    expect(told).toEqual([]);
  });

  it('says when nothing was accepted, and serves nothing else', async () => {
    const { ask } = await control(true);
    const event = { type: 'cancelRequested', requestId: 'q' };
    expect(await ask({ runId: 'r', event })).toEqual({
      status: 503,
      body: { detail: 'Cannot commit: down', code: 'store_unavailable' },
    });
    expect(await ask({ runId: 'r', event }, '/other')).toMatchObject({
      status: 404,
      body: { code: 'not_found' },
    });
  });
});
