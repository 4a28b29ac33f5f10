/**
 * The forms of the chart as processes: the commands, configuration and variables that the chart gives them, each with a
 * folder of its own, on a real PostgreSQL and a real Temporal server; only the API server is a stand-in.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startPostgres } from '../../scripts/postgres-server.ts';
import { PARLEY } from '../cli/parley-program.ts';
import { endProcess } from '../helpers/end-process.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { startFakeApi } from '../runtimes/kubernetes/fake-api/fake-api.ts';
import { TEMPORAL, podsOf, render } from './rendered-chart.ts';
import type { Manifest } from './rendered-chart.ts';

const ALL_MS_MAX = 180_000;
const UNTIL = { timeout: 60_000, interval: 200 } as const;

interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<number | null>;
  said(): string;
}

/** What Kubernetes would start for a component, in a folder that is this component's alone. */
function starter(manifests: readonly Manifest[], values: Readonly<Record<string, string>>) {
  const { data } = manifests.find(({ metadata }) => metadata.name === 'rel-engine') as unknown as {
    readonly data: Readonly<Record<string, string>>;
  };
  return (component: string, more: readonly string[]): Running => {
    const container = podsOf(manifests).get(`rel-${component}`)?.containers[0];
    if (container === undefined) throw new Error(`no pod of ${component}`);
    const dir = path.join(tempDir(), component);
    mkdirSync(dir);
    const file = path.join(dir, 'parley.yaml');
    writeFileSync(file, (data['parley.yaml'] ?? '').replaceAll('/data', path.join(dir, 'data')));
    const args = (container.args ?? []).map((one) => one.replace('/etc/parley/parley.yaml', file));
    const given = (container.env ?? []).map(({ name }) => [name, values[name] ?? `no value of ${name}`]);
    const child = spawn(process.execPath, [PARLEY, ...args, ...more], {
      cwd: dir,
      env: {
        PATH: process.env['PATH'],
        HOME: dir,
        NO_COLOR: '1',
        PARLEY_KUBECONFIG: values['PARLEY_KUBECONFIG'],
        ...Object.fromEntries(given),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    onTestFinished(() => endProcess(child));
    let said = '';
    for (const stream of [child.stdout, child.stderr])
      stream.on('data', (text: Buffer) => (said += text.toString()));
    const ended = once(child, 'close').then(([code]) => code as number | null);
    return { child, ended, said: () => said };
  };
}

describeWith('helm', 'the form of one process', () => {
  it(
    'waits for a key until it is ended, and takes that of the Secret',
    async () => {
      const api = await startFakeApi({ dir: tempDir(), logOf: () => '', podSecurity: 'baseline' });
      onTestFinished(() => api.close());
      const values = { PARLEY_PROXY_KEY: 'sk-engine', PARLEY_KUBECONFIG: api.kubeconfig };
      const none = starter(render(['firstKey.create=false']).manifests, values);
      const waiting = none('api', ['--port=0']);
      await expect.poll(() => waiting.said(), UNTIL).toContain('there is no API key yet');
      waiting.child.kill('SIGTERM');
      expect(await waiting.ended, waiting.said()).toBe(130);

      const { manifests } = render();
      const first = starter(manifests, values)('first-key', [`--namespace=${api.namespace}`]);
      expect(await first.ended, first.said()).toBe(0);
      expect(first.said()).toContain('its key is issued when the service starts');
      const secret = api.store.get('secrets', 'rel-first-key')['data'] as Record<string, string>;
      const key = Buffer.from(secret['api-key'] ?? '', 'base64').toString();
      const serving = starter(manifests, { ...values, PARLEY_FIRST_API_KEY: key })('api', ['--port=0']);
      await expect.poll(() => serving.said(), UNTIL).toMatch(/^serving/m);
      const port = /^serving\s+http:\/\/\S+:(\d+)/m.exec(serving.said())?.[1];
      const headers = { authorization: `Bearer ${key}` };
      expect((await fetch(`http://127.0.0.1:${port}/api/v1/runs/search`, { headers })).status).toBe(200);
      expect(first.said() + serving.said()).not.toContain(key);
      serving.child.kill('SIGTERM');
      expect(await serving.ended, serving.said()).toBe(0);
    },
    ALL_MS_MAX,
  );
});

describeWith('helm', 'the form on Temporal', () => {
  describeWith('temporal', 'with a server', () => {
    describeWith('postgres', 'and a database', () => {
      it(
        'has a key, is registered, and runs API and worker without a folder in common',
        async () => {
          const [database, server] = await Promise.all([startPostgres(), startServerForTests()]);
          onTestFinished(() => database.close());
          onTestFinished(() => server.stop());
          const api = await startFakeApi({ dir: tempDir(), logOf: () => '', podSecurity: 'baseline' });
          onTestFinished(() => api.close());
          const { manifests, stderr } = render(
            TEMPORAL,
            [
              {
                sandboxes: { namespace: api.namespace },
                config: { runtime: { kubernetes: { listen: '127.0.0.1', service: '127.0.0.1' } } },
              },
            ],
            { changed: ['engine.temporal.address', server.address] },
          );
          expect(manifests.length, stderr).toBeGreaterThan(10);
          const start = starter(manifests, {
            PARLEY_DATABASE_URL: await database.createDatabase('chart'),
            PARLEY_SEAL_KEY: Buffer.alloc(32, 7).toString('base64'),
            PARLEY_PROXY_KEY: 'sk-engine',
            PARLEY_KUBECONFIG: api.kubeconfig,
          });

          // As Kubernetes does: all at once, and none waits for the order of the others.
          const serving = start('api', ['--port=0']);
          const register = start('register', []);
          await expect.poll(() => serving.said(), UNTIL).toContain('there is no API key yet');
          const place = [`--namespace=${api.namespace}`];
          const first = start('first-key', place);
          const migrations = start('migrations', []);
          expect(await register.ended, register.said()).toBe(0);
          expect(await first.ended, first.said()).toBe(0);
          expect(first.said()).toContain('made, and its key is issued');
          expect(await migrations.ended, migrations.said()).toBe(0);
          const worker = start('worker', ['--health-port=0', '--health-host=127.0.0.1']);
          await expect.poll(() => worker.said(), UNTIL).toMatch(/http:\/\/127\.0\.0\.1:\d+/);
          await expect.poll(() => serving.said(), UNTIL).toMatch(/^serving/m);

          const secret = api.store.get('secrets', 'rel-first-key')['data'] as Record<string, string>;
          const key = Buffer.from(secret['api-key'] ?? '', 'base64').toString();
          for (const running of [serving, first, worker, migrations])
            expect(running.said()).not.toContain(key);
          const port = /^serving\s+http:\/\/\S+:(\d+)/m.exec(serving.said())?.[1];
          expect(port, serving.said()).toBeDefined();
          const ask = async (token: string): Promise<number> => {
            const headers = { authorization: `Bearer ${token}` };
            return (await fetch(`http://127.0.0.1:${port}/api/v1/runs/search`, { headers })).status;
          };
          expect([await ask(key), await ask('pa-nobody')]).toEqual([200, 401]);
          const health = /http:\/\/127\.0\.0\.1:\d+/.exec(worker.said())?.[0];
          await expect.poll(async () => (await fetch(`${health}/readyz`)).status, UNTIL).toBe(200);

          // What the API accepts is carried out by the worker: it asks the cluster for a volume and a pod.
          const started = await fetch(`http://127.0.0.1:${port}/api/v1/app-conversations`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ initial_message: { content: [{ type: 'text', text: 'go' }] } }),
          });
          expect(started.status, await started.text()).toBe(200);
          await expect.poll(() => api.store.all('pods').length, UNTIL).toBe(1);

          // A second installation of the same: nothing is made again.
          const again = start('first-key', place);
          expect(await again.ended).toBe(0);
          expect(again.said()).toContain('was there; nothing is changed');
        },
        ALL_MS_MAX,
      );
    });
  });
});
