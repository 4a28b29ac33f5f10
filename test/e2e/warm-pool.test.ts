/** The warm pool of a real `parley serve`: filled, claimed, filled again, mended, kept over a restart, and given back. */
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import { callServed, serve, type Served } from '../api/served.ts';
import { eventually, type ServiceCall } from '../api/service.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { processesOf } from './process-list.ts';
import { openWarmBeside } from './warm-beside.ts';

const APP = '/api/v1/app-conversations';
const SIZE = 2;
const configOf = (size: number): string =>
  `runtime: { isolation: namespaces }\nlimits: { idle_time: 0 }\nwarm_pool: { size: ${size} }\n`;

async function startConversation(served: Served, key: string): Promise<SandboxId> {
  const call = (one: ServiceCall) => callServed(served, key, one);
  const started = await call({ method: 'POST', path: APP, body: {} });
  const [task] = await eventually(
    async () => (await call({ path: `${APP}/start-tasks?ids=${started.body.id}` })).body,
    ([one]) => one.status === 'READY' || one.status === 'ERROR',
  );
  expect([task.status, task.detail]).toEqual(['READY', null]);
  return sandboxId(task.sandbox_id);
}

function killAll(name: string): number {
  const all = processesOf(name);
  for (const { pid } of all) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended with the one before.
    }
  }
  return all.length;
}

describeWith('bwrap', 'the warm pool of a served deployment', () => {
  it('is claimed, filled again, mended, kept over a restart, and given back', async () => {
    const folder = tempDir();
    // Also when the test ends early: sandboxes outlive their service.
    onTestFinished(() => void killAll(folder));
    const first = await serve(folder, { config: configOf(SIZE) });
    const key = first.key ?? '';
    const call = (served: Served, one: ServiceCall) => callServed(served, key, one);
    const pool = await openWarmBeside(path.join(folder, 'data'));
    const before = await pool.filled(SIZE);

    // No user sees a sandbox without an owner (D4).
    expect((await call(first, { path: '/api/v1/sandboxes/search' })).body.items).toEqual([]);
    expect((await call(first, { path: `/api/v1/sandboxes?id=${before[0]}` })).body).toEqual([null]);

    const owned = await startConversation(first, key);
    expect(owned).toBe(before[0]);
    const created = await call(first, { method: 'POST', path: '/api/v1/sandboxes' });
    const made = sandboxId(created.body.id);
    expect([created.status, made]).toEqual([200, before[1]]);
    const [victim, next] = (await pool.filled(SIZE, [owned, made])) as [SandboxId, SandboxId];

    // One that dies is replaced, and no user ever gets it.
    expect(killAll(victim)).toBeGreaterThan(0);
    await pool.filled(SIZE, [victim]);
    expect(await startConversation(first, key)).toBe(next);
    const kept = await pool.filled(SIZE, [victim, next]);

    // Killed and begun anew, the service goes on with what is there.
    await first.end('SIGKILL');
    const second = await serve(folder, { config: configOf(SIZE) });
    expect(await startConversation(second, key)).toBe(kept[0]);
    const rows = (await call(second, { path: `/api/v1/sandboxes?id=${owned}` })).body;
    expect(rows).toMatchObject([{ status: 'RUNNING' }]);
    expect(await second.end('SIGTERM')).toBe(0);

    // A deployment that wants none gives back what is there.
    const left = kept.slice(1);
    const third = await serve(folder, { config: configOf(0) });
    await eventually(pool.ready, (ids) => ids.length === 0);
    await eventually(
      () => Promise.resolve(left.flatMap((id) => processesOf(id))),
      (running) => running.length === 0,
    );
    expect(await third.end('SIGTERM')).toBe(0);
  });
});
