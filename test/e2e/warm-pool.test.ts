/** The warm pool of a real `parley serve`: filled, claimed, filled again, mended, kept over a restart, and given back. */
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import { openStore } from '../../store/open-store.ts';
import { callServed, serve, type Served } from '../api/served.ts';
import { eventually, type ServiceCall } from '../api/service.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { processesOf } from './process-list.ts';

const APP = '/api/v1/app-conversations';
const SIZE = 2;
const configOf = (size: number): string =>
  `runtime: { isolation: namespaces }\nlimits: { idle_time: 0 }\nwarm_pool: { size: ${size} }\n`;

/** What the store of the service holds, read beside it. */
interface Beside {
  /** Ready ones, the oldest first. */
  ready(): Promise<readonly SandboxId[]>;
  /** Ready ones when there are as many as wanted, and none of these. */
  filled(without?: readonly SandboxId[]): Promise<readonly SandboxId[]>;
}

async function openBeside(folder: string): Promise<Beside> {
  const file = path.join(folder, 'data', 'parley.db');
  const store = await openStore({ kind: 'sqlite', path: file, readOnly: true });
  onTestFinished(() => store.close());
  const ready = async (): Promise<readonly SandboxId[]> =>
    (await store.warmPool.held())
      .filter(({ state }) => state === 'ready')
      .sort((a, b) => (a.bootedAt ?? 0) - (b.bootedAt ?? 0) || (a.sandboxId < b.sandboxId ? -1 : 1))
      .map((one) => one.sandboxId);
  const filled: Beside['filled'] = (without = []) =>
    eventually(ready, (ids) => ids.length === SIZE && ids.every((id) => !without.includes(id)));
  return { ready, filled };
}

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
    const pool = await openBeside(folder);
    const before = await pool.filled();

    // Nobody sees what nobody owns (D4).
    expect((await call(first, { path: '/api/v1/sandboxes/search' })).body.items).toEqual([]);
    expect((await call(first, { path: `/api/v1/sandboxes?id=${before[0]}` })).body).toEqual([null]);

    const owned = await startConversation(first, key);
    expect(owned).toBe(before[0]);
    const created = await call(first, { method: 'POST', path: '/api/v1/sandboxes' });
    const made = sandboxId(created.body.id);
    expect([created.status, made]).toEqual([200, before[1]]);
    const [victim, next] = (await pool.filled([owned, made])) as [SandboxId, SandboxId];

    // One that dies is replaced, and nobody ever gets it.
    expect(killAll(victim)).toBeGreaterThan(0);
    await pool.filled([victim]);
    expect(await startConversation(first, key)).toBe(next);
    const kept = await pool.filled([victim, next]);

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
