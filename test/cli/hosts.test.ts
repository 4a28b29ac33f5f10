/** `parley hosts`: what operators see of hosts, and that one is taken out of placement and back. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { placesOf } from '../../host/sandboxes/places.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell } from './fake-shell.ts';

let cwd: string;
beforeEach(() => void (cwd = tempDir()));

async function withStore<Answer>(work: (store: Store) => Promise<Answer>): Promise<Answer> {
  const dataDir = path.join(cwd, '.parley');
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const store = await openStore({ kind: 'sqlite', path: placesOf(dataDir).database });
  return await work(store).finally(() => store.close());
}

const take = (
  name: string,
  labels: Readonly<Record<string, string>> = {},
  leaseMs = 600_000,
): Promise<unknown> =>
  withStore(({ hosts }) =>
    hosts.take({
      ...{ name, fallbackName: 'unused', directory: `of ${name}`, runtime: 'process', capacity: 4 },
      ...{ labels, relay: null, version: '1.0.0', leaseMs },
    }),
  );

async function parley(...args: readonly string[]) {
  const shell = fakeShell({ cwd });
  const code = await runCli(['hosts', ...args], shell);
  return { code, stdout: shell.stdout.text, stderr: shell.stderr.text };
}

it('says where hosts come from when there is none, also where nothing ever ran', async () => {
  const none = { code: 0, stdout: '', stderr: expect.stringContaining('no hosts') as string };
  expect(await parley('list')).toEqual(none);
  await withStore(() => Promise.resolve());
  expect(await parley('list')).toEqual(none);
});

it('lists hosts for people and programs, and lets no name or label reach the terminal as it is', async () => {
  await take('build-7', { gpu: 'a100', evil: '\u001b[31mred\n' });
  await take('old', {}, 0);
  const { code, stdout } = await parley('list');
  expect(code).toBe(0);
  expect(stdout).toMatch(/^build-7 +live +process +0\/4 +0 +1\.0\.0 .*gpu=a100/m);
  expect(stdout).toMatch(/^old +silent /m);
  expect(stdout).not.toContain('\u001b');
  expect(stdout.trimEnd().split('\n')).toHaveLength(3);
  const lines = (await parley('list', '--json')).stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object).slice(-2)).toMatchObject([
    { type: 'host', name: 'build-7', state: 'live', capacity: 4, up: 0, labels: { gpu: 'a100' }, fence: 1 },
    { type: 'host', name: 'old', state: 'silent', draining: false },
  ]);
});

it('lists the processes that serve, and what each does for all, also where there is no host', async () => {
  await withStore(async ({ proxyPeers }) => {
    await proxyPeers.join('a', 600_000, { kind: 'worker', name: 'build-7 (12)' });
    await proxyPeers.join('b', 600_000, { kind: 'proxy', name: '\u001b[31mred (13)' });
    await proxyPeers.beat('a', 600_000, ['lost_workflows', 'spend_totals']);
  });
  const { stdout, stderr } = await parley('list');
  expect(stderr).toContain('no hosts');
  expect(stdout).toMatch(/^worker +build-7 \(12\) +lost_workflows, spend_totals *$/m);
  expect(stdout).not.toContain('\u001b');
  const lines = (await parley('list', '--json')).stdout.trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line) as object).slice(-2)).toMatchObject([
    { type: 'process', kind: 'proxy', leads: [] },
    { type: 'process', kind: 'worker', name: 'build-7 (12)', leads: ['lost_workflows', 'spend_totals'] },
  ]);
});

it('drains a host and takes it back', async () => {
  await take('build-7');
  expect(await parley('drain', 'build-7')).toMatchObject({
    code: 0,
    stdout: 'build-7  draining, 0 sandboxes\n',
  });
  expect(await withStore(({ hosts }) => hosts.list())).toMatchObject([{ draining: true }]);
  await parley('drain', 'build-7', '--archive-released');
  const [drained] = (await parley('list', '--json')).stdout.trimEnd().split('\n').slice(-1);
  expect(JSON.parse(drained ?? '')).toMatchObject({ state: 'draining', archives_released: true });
  expect(await parley('undrain', 'build-7')).toMatchObject({
    code: 0,
    stdout: 'build-7  live, 0 sandboxes\n',
  });
});

it('says that there is no such host, and where they are listed', async () => {
  await take('build-7');
  const { code, stderr } = await parley('drain', 'build-8');
  expect(code).toBe(2);
  expect(stderr).toContain('there is no such host');
  expect(stderr).toContain('parley hosts list');
});

it('gives up a host whose worker is gone or has stopped, and none whose worker serves', async () => {
  await take('build-7');
  expect(await parley('give-up', 'build-7')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('its worker serves') as string,
  });
  await withStore(({ hosts }) => hosts.stop({ name: 'build-7', fence: 1 }));
  expect((await parley('list')).stdout).toMatch(/^build-7 +stopped /m);
  const done = { code: 0, stdout: 'build-7  lost, 0 sandboxes\n' };
  expect(await parley('give-up', 'build-7')).toMatchObject(done);
  expect(await parley('give-up', 'build-7')).toMatchObject(done);
  expect((await parley('list')).stdout).toMatch(/^build-7 +lost /m);
  await take('old', {}, 0);
  expect(
    JSON.parse((await parley('give-up', 'old', '--json')).stdout.split('\n').at(-2) ?? ''),
  ).toMatchObject({
    ...{ name: 'old', state: 'lost', fence: 2, lost: 0 },
  });
  const { code, stderr } = await parley('give-up', 'build-8');
  expect([code, stderr]).toEqual([2, expect.stringContaining('there is no such host')]);
});
