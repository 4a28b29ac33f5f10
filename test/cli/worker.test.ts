/** `parley worker` beside a host in memory, and `--engine` of the commands that take it. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { EngineFacts } from '../../host/host-port.ts';
import { runCli } from '../../cli/program.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost, type FakeHostOptions } from './fake-host.ts';
import { fakeShell, recordsOf, until } from './fake-shell.ts';
import { FINISHED, itemRow, JOB, RUN, runRow, SUCCEEDED } from './rows.ts';

const FACTS = {
  kind: 'temporal',
  address: '127.0.0.1:7233',
  namespace: 'default',
  queue: 'parley',
  worker: {
    queues: ['parley', 'parley-sandbox'],
    slots: { sandbox: 8, agent: 64, bookkeeping: 16, watch: 64 },
    buildId: '0.1.0-abc',
    deployment: null,
    metricsUrl: null,
  },
} satisfies EngineFacts;
const CONFIG = "engine: { kind: temporal, address: '127.0.0.1:7233' }\nstore: { path: . }\n";

function setUp({ config = CONFIG, ...options }: FakeHostOptions & { readonly config?: string } = {}) {
  const host = fakeHost({ engine: FACTS, ...options });
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'parley.yaml'), config);
  writeFileSync(path.join(cwd, 'job.yaml'), JOB);
  writeFileSync(path.join(cwd, 'parley.db'), '');
  return { host, shell: fakeShell({ cwd, host }) };
}

describe('parley worker', () => {
  it('says what it serves, and ends well at the first signal', async () => {
    const { host, shell } = setUp();
    const ended = runCli(['worker'], shell);
    await until(() => shell.stderr.text.includes('Ctrl-C ends it'));
    expect(host.opened).toMatchObject({ isWorker: true, engine: { kind: 'temporal' } });
    expect(shell.stdout.text).toContain('queues     parley, parley-sandbox\n');
    expect(shell.stdout.text).toContain('slots      sandbox 8, agent 64, bookkeeping 16, watch 64\n');
    expect(shell.stdout.text).toContain('build      0.1.0-abc\n');
    expect(shell.stdout.text).toContain('metrics    none; ask for them with engine.metrics\n');
    shell.interrupt('SIGTERM');
    expect(await ended).toBe(0);
    expect(host.calls).toEqual(['close']);
  });

  it('says which build of which deployment it is, and where its metrics are', async () => {
    const worker = { deployment: 'parley-eu', metricsUrl: 'http://127.0.0.1:9464/metrics' };
    const engine = { ...FACTS, worker: { ...FACTS.worker, ...worker } };
    const [plain, json] = [setUp({ engine }), setUp({ engine })];
    const running = [runCli(['worker'], plain.shell), runCli(['worker', '--json'], json.shell)];
    await until(() => plain.shell.stderr.text.includes('Ctrl-C ends it'));
    await until(() => json.shell.stdout.text.includes('"type":"worker"'));
    for (const { shell } of [plain, json]) shell.interrupt();
    expect(await Promise.all(running)).toEqual([0, 0]);
    expect(plain.shell.stdout.text).toContain('build      0.1.0-abc of parley-eu\n');
    expect(plain.shell.stdout.text).toContain(`metrics    ${worker.metricsUrl}\n`);
    const fields = { deployment: 'parley-eu', metrics: worker.metricsUrl };
    expect(recordsOf(json.shell)).toContainEqual(expect.objectContaining(fields));
  });

  it('does not wait for what runs after a second signal', async () => {
    const { host, shell } = setUp({ closing: new Promise(() => undefined) });
    const ended = runCli(['worker'], shell);
    await until(() => shell.stderr.text.includes('Ctrl-C ends it'));
    shell.interrupt();
    shell.interrupt();
    expect(await ended).toBe(130);
    expect(host.calls).toEqual([]);
  });

  it('answers a supervisor: healthy and ready, and not ready while it stops', async () => {
    let finish: () => void = () => undefined;
    const closing = new Promise<void>((resolve) => (finish = resolve));
    const { shell } = setUp({ closing });
    const ended = runCli(['worker', '--health-port', '0', '--json'], shell);
    await until(() => shell.stdout.text.includes('"type":"worker"'));
    const [, record] = recordsOf(shell);
    expect(record).toMatchObject({ namespace: 'default', build_id: '0.1.0-abc', slots: { sandbox: 8 } });
    const ask = async (route: string): Promise<number> =>
      (await fetch(`${String(record?.['health'])}${route}`)).status;
    expect([await ask('/healthz'), await ask('/readyz')]).toEqual([200, 200]);
    shell.interrupt();
    expect([await ask('/healthz'), await ask('/readyz'), await ask('/')]).toEqual([200, 503, 404]);
    finish();
    expect(await ended).toBe(0);
    expect(recordsOf(shell).map(({ type }) => type)).toEqual(['hello', 'worker', 'notice']);
  });

  it('ends with a sentence when the engine cannot go on', async () => {
    const { host, shell } = setUp();
    const ended = runCli(['worker'], shell);
    await until(() => shell.stderr.text.includes('Ctrl-C ends it'));
    host.fail(new ParleyError('engine_unreachable', 'Cannot go on: a worker has ended'));
    expect(await ended).toBe(5);
    expect(shell.stderr.text).toContain('parley: Cannot go on: a worker has ended\n');
    expect(host.calls).toEqual(['close']);
  });

  it('is refused without Temporal, without a server, and beside another owner', async () => {
    const embedded = setUp({ config: 'store: { path: . }\n' });
    expect(await runCli(['worker'], embedded.shell)).toBe(2);
    expect(embedded.shell.stderr.text).toBe(
      'parley: Cannot start a worker: the embedded engine has none\n' +
        '  = set engine.kind to temporal, or add --engine temporal\n',
    );
    const nowhere = setUp({ config: 'store: { path: . }\n' });
    expect(await runCli(['worker', '--engine', 'temporal'], nowhere.shell)).toBe(2);
    expect(nowhere.shell.stderr.text).toContain('no Temporal server is named');
    expect(nowhere.host.opened).toBeNull();
    const second = setUp({ locked: true });
    expect(await runCli(['worker'], second.shell)).toBe(5);
    expect(second.shell.stderr.text).toContain('process 1 owns it');
  });

  it('says when its port is taken, and lets go of the host', async () => {
    const first = setUp();
    const running = runCli(['worker', '--health-port', '0', '--json'], first.shell);
    await until(() => first.shell.stdout.text.includes('"type":"worker"'));
    const { port } = new URL(String(recordsOf(first.shell)[1]?.['health']));
    const { host, shell } = setUp();
    expect(await runCli(['worker', '--health-port', port], shell)).toBe(2);
    expect(shell.stderr.text).toContain(`Cannot listen on port ${port} of "127.0.0.1": EADDRINUSE`);
    expect(host.calls).toEqual(['close']);
    first.shell.interrupt();
    expect(await running).toBe(0);
  });
});

describe('--engine', () => {
  const done = { row: runRow(FINISHED), items: [itemRow('first', SUCCEEDED), itemRow('second', SUCCEEDED)] };

  it('counts before the configuration', async () => {
    const { host, shell } = setUp({ onStart: () => done });
    expect(await runCli(['run', 'job.yaml', '--run-id', RUN, '--engine', 'embedded'], shell)).toBe(0);
    expect(host.opened?.engine.kind).toBe('embedded');
    const other = setUp({ config: 'store: { path: . }\n', onStart: () => done });
    expect(await runCli(['run', 'job.yaml', '--run-id', RUN, '--engine', 'temporal'], other.shell)).toBe(0);
    expect(other.host.opened?.engine).toMatchObject({ kind: 'temporal', temporal: { address: null } });
  });

  it('is the one of the configuration when it is not given', async () => {
    const { host, shell } = setUp({ onStart: () => done });
    expect(await runCli(['run', 'job.yaml', '--run-id', RUN], shell)).toBe(0);
    expect(host.opened?.engine.kind).toBe('temporal');
  });

  it('is refused when there is none of that name', async () => {
    const { host, shell } = setUp();
    expect(await runCli(['run', 'job.yaml', '--engine', 'steam'], shell)).toBe(2);
    expect(host.opened).toBeNull();
  });
});

describe('parley doctor', () => {
  it('looks at the server and at the workflows of the engine on Temporal', async () => {
    const { shell } = setUp({ config: "engine: { kind: temporal, address: '127.0.0.1:1' }\n" });
    expect(await runCli(['doctor', '--json'], shell)).toBe(1);
    expect(recordsOf(shell)).toContainEqual({
      type: 'check',
      check: 'engine',
      status: 'failed',
      detail: 'Cannot reach a Temporal server at 127.0.0.1:1: nothing listens there',
      remedy: 'start one with "parley temporal dev", or set engine.address',
    });
    expect(recordsOf(shell)).toContainEqual(expect.objectContaining({ check: 'workflows', status: 'ok' }));
  });

  it('says nothing of it for the embedded engine', async () => {
    const { shell } = setUp({ config: 'store: { path: . }\n' });
    await runCli(['doctor', '--json'], shell);
    expect(recordsOf(shell).map(({ check }) => check)).not.toContain('engine');
  });
});
