/**
 * What is particular to sandboxes that are processes: their survival, their identity, their log, their start-up checks.
 */
import { spawn } from 'node:child_process';
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { createInterface } from 'node:readline';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBoundedLog } from '../../runtimes/process/inside/bounded-log.ts';
import { findProcesses } from '../../runtimes/process/incarnation.ts';
import { isAlive, startOf, startOfStat } from '../../runtimes/process/process-table.ts';
import { createProcessRuntime } from '../../runtimes/process/process-runtime.ts';
import { sandboxPaths } from '../../runtimes/process/sandbox-paths.ts';
import { bundleProgram, createProcessHarness } from '../contract/process-harness.ts';
import type { ProcessHarness } from '../contract/process-harness.ts';
import { post, runInside } from '../contract/runtime-inside.ts';
import { newId, newRequest, settled } from '../contract/runtime-suite.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import type { StartingHostInput } from './starting-host.ts';

async function harnessFor(isolation: 'namespaces' | 'none'): Promise<ProcessHarness> {
  const harness = await createProcessHarness(isolation);
  onTestFinished(async () => {
    for (const { sandboxId } of await harness.runtime.list()) await harness.runtime.destroy(sandboxId);
    await harness.close();
  });
  return harness;
}

/** Starts a sandbox from another process and kills that process without a chance to clean up. */
async function startFromKilledHost(
  harness: ProcessHarness,
  request: ReturnType<typeof newRequest>,
): Promise<void> {
  const program = await bundleProgram('starting-host', 'test/runtimes/starting-host.ts');
  const host = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => host.once('close', resolve));
  const input: StartingHostInput = { options: harness.options, request };
  host.stdin.end(JSON.stringify(input));
  const lines: string[] = [];
  for await (const line of createInterface(host.stdout)) lines.push(line);
  expect(lines).toEqual(['started']);
  await ended;
}

for (const isolation of ['namespaces', 'none'] as const) {
  const register = isolation === 'none' ? (describe as typeof describe) : describeWith.bind(null, 'bwrap');
  register(`process runtime, isolation ${isolation}`, () => {
    it('finds what a host that was killed had started, and stops it', async () => {
      const harness = await harnessFor(isolation);
      const request = newRequest();
      await startFromKilledHost(harness, request);
      const presence = await harness.runtime.inspect(request.sandboxId);
      expect(presence.kind).toBe('up');
      const address = await harness.runtime.start(request);
      expect((await runInside({ address, sessionKey: request.sessionKey }, 'echo still here')).stdout).toBe(
        'still here\n',
      );
      await harness.runtime.stop(request);
      expect(await findProcesses(sandboxPaths(harness.options, request.sandboxId))).toEqual({
        launched: null,
        namespaceInit: null,
      });
    });

    it('stops what ignores the request to stop, with everything it started', async () => {
      const harness = await harnessFor(isolation);
      const request = newRequest();
      const call = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
      const stubborn = `trap "" TERM HUP; exec sleep 987654`;
      await runInside(
        call,
        `setsid sh -c '${stubborn}' > /dev/null 2>&1 & setsid sh -c '${stubborn}' > /dev/null 2>&1 &`,
      );
      await harness.runtime.stop(request);
      const left = readProcesses().filter(({ environment }) => environment.includes(request.sandboxId));
      expect(left).toEqual([]);
    });

    it('calls a sandbox whose agent server died crashed, whatever else still runs in it, and replaces it', async () => {
      const harness = await harnessFor(isolation);
      const request = newRequest();
      const call = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
      await runInside(call, 'setsid sleep 987654 > /dev/null 2>&1 &');
      await post(call, '/exit', '5').catch(() => null);
      expect((await settled(harness.runtime, request.sandboxId, 'crashed')).kind).toBe('crashed');
      await harness.runtime.start({ ...request, generation: 2 });
      const old = readProcesses().filter(({ environment }) =>
        environment.includes(`${request.sandboxId}\0PARLEY_SANDBOX_GENERATION=1\0`),
      );
      expect(old).toEqual([]);
    });

    it('takes a foreign process with a recycled number for nothing of its own', async () => {
      const harness = await harnessFor(isolation);
      const request = newRequest();
      await harness.runtime.start(request);
      await harness.runtime.stop(request);
      const paths = sandboxPaths(harness.options, request.sandboxId);
      rmSync(paths.status, { force: true });
      writeFileSync(
        paths.process,
        `${process.pid}\nanother-boot\n${readFileSync('/proc/self/stat', 'utf8')}`,
      );
      expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('stopped');
    });

    it('keeps the log below its bound', async () => {
      const harness = await harnessFor(isolation);
      const request = newRequest();
      const call = { address: await harness.runtime.start(request), sessionKey: request.sessionKey };
      for (let part = 0; part < 13; part += 1) await post(call, '/print', `${'x'.repeat(1_000_000)}\n`);
      await post(call, '/print', 'the end\n');
      const { log } = sandboxPaths(harness.options, request.sandboxId);
      await post(call, '/exit', '1').catch(() => null);
      expect(await settled(harness.runtime, request.sandboxId, 'crashed')).toMatchObject({
        reason: expect.stringContaining('the end'),
      });
      expect(statSync(log).size).toBeLessThanOrEqual(10 * 1024 * 1024);
    });
  });
}

describeWith('bwrap', "bubblewrap's outer half", () => {
  it('makes no sandbox while it is held stopped and its namespace has gone', async () => {
    const harness = await harnessFor('namespaces');
    const request = newRequest();
    await harness.runtime.start(request);
    // On a busy machine the agent answers before bubblewrap has reported its child.
    const { launched, namespaceInit } = await vi.waitFor(async () => {
      const found = await findProcesses(sandboxPaths(harness.options, request.sandboxId));
      if (found.launched === null || found.namespaceInit === null) throw new Error('the sandbox is not up');
      return { launched: found.launched, namespaceInit: found.namespaceInit };
    }, 30_000);
    process.kill(launched, 'SIGSTOP');
    process.kill(namespaceInit, 'SIGKILL');
    expect((await settled(harness.runtime, request.sandboxId, 'crashed')).kind).toBe('crashed');
    const next = { ...request, generation: 2 };
    const call = { address: await harness.runtime.start(next), sessionKey: next.sessionKey };
    expect((await runInside(call, 'echo anew')).stdout).toBe('anew\n');
  });

  it('makes a sandbox while it is in the middle of telling what it has started', async () => {
    const harness = await harnessFor('namespaces');
    const request = newRequest();
    await harness.runtime.start(request);
    const { status } = sandboxPaths(harness.options, request.sandboxId);
    const whole = readFileSync(status, 'utf8');
    const [half] = /^\{ "child-pid": \d+/.exec(whole) ?? [''];
    for (const written of ['', half, whole.trimEnd(), whole]) {
      writeFileSync(status, written);
      expect((await harness.runtime.inspect(request.sandboxId)).kind, written).toBe('up');
    }
  });
});

describe('createProcessRuntime()', () => {
  it('chooses other ports when another program takes one before the sandbox does', async () => {
    const harness = await harnessFor('none');
    const startBeside = async (): Promise<boolean> => {
      const request = newRequest();
      const { record } = sandboxPaths(harness.options, request.sandboxId);
      const taken = takeFirst(record);
      const address = await harness.runtime.start(request);
      const inside = await runInside({ address, sessionKey: request.sessionKey }, 'echo up');
      expect(inside.stdout).toBe('up\n');
      return (await taken) !== portsIn(record)?.proxy;
    };
    // A busy machine may check too late: then the sandbox has its port.
    const isOther: boolean[] = [];
    while (isOther.length < 20 && !isOther.includes(true)) isOther.push(await startBeside());
    expect(isOther).toContain(true);
  });

  it('warns once that plain processes isolate nothing, and says so in its capabilities', async () => {
    const harness = await harnessFor('none');
    expect(harness.warnings).toEqual([expect.stringContaining('isolate nothing')]);
    expect(harness.runtime.capabilities).toMatchObject({ isolation: 'none', egress: 'open' });
  });

  it('refuses host sockets whose directory would show other sandboxes', async () => {
    const { options } = await harnessFor('none');
    for (const proxy of [
      path.join(options.socketDir, 'proxy.sock'),
      path.join(options.dataDir, '../proxy.sock'),
    ]) {
      const wrong = { ...options, hostSockets: { ...options.hostSockets, proxy } };
      expect(() => createProcessRuntime(wrong)).toThrow(expect.objectContaining({ code: 'runtime_failed' }));
    }
  });

  it('refuses ids that are none, and socket paths that the system cannot hold', async () => {
    const { runtime, options } = await harnessFor('none');
    const odd = newRequest({ sandboxId: '../../etc' as ReturnType<typeof newId> });
    await expect(runtime.start(odd)).rejects.toMatchObject({ code: 'runtime_failed' });
    expect((await runtime.inspect(odd.sandboxId)).kind).toBe('unknown');
    const long = createProcessRuntime({
      ...options,
      socketDir: path.join(options.socketDir, 'x'.repeat(100)),
    });
    await expect(long.start(newRequest())).rejects.toMatchObject({ code: 'runtime_failed' });
  });

  it('knows nothing of a sandbox whose record is damaged, and says so', async () => {
    const { runtime, options } = await harnessFor('none');
    const id = newId();
    const paths = sandboxPaths(options, id);
    mkdirSync(paths.dir, { recursive: true });
    writeFileSync(paths.record, '{"half');
    expect((await runtime.inspect(id)).kind).toBe('unknown');
    await expect(runtime.destroy(id)).rejects.toMatchObject({ code: 'runtime_unreachable' });
    rmSync(paths.dir, { recursive: true });
  });
});

describe('process identity', () => {
  it('reads the start instant behind any program name', () => {
    const stat = '12 (a) b) 1 (x) S 1 12 12 0 -1 4194304 1 0 0 0 0 0 0 0 20 0 1 0 777 1 1';
    expect(startOfStat(stat, 'boot\n')).toBe('boot 777');
    expect(startOfStat(stat.replace(') S ', ') Z '), 'boot')).toBeNull();
  });

  it('compares number and start instant', async () => {
    const startedAt = (await startOf(process.pid)) ?? '';
    expect(await isAlive({ pid: process.pid, startedAt })).toBe(true);
    expect(await isAlive({ pid: process.pid, startedAt: `${startedAt}0` })).toBe(false);
  });
});

describe('createBoundedLog()', () => {
  it('keeps the newest lines', () => {
    const file = path.join(tempDir(), 'log');
    appendFileSync(file, 'old line\n'.repeat(50));
    const descriptor = openSync(file, 'a+');
    const log = createBoundedLog(descriptor, 1_000);
    for (let line = 0; line < 500; line += 1) log(Buffer.from(`line ${line}\n`));
    log(Buffer.alloc(5_000, 'y'));
    closeSync(descriptor);
    const text = readFileSync(file, 'utf8');
    expect(text.length).toBeLessThanOrEqual(1_000);
    expect(text).toMatch(/^\[earlier lines were cut\]\nline \d+\n/);
    expect(text).toContain('line 499\ny');
  });
});

/** Takes the port of the proxy as soon as it is chosen, while the sandbox that is to listen there still boots. */
async function takeFirst(record: string): Promise<number> {
  const { proxy } = await expect
    .poll(() => portsIn(record), { interval: 1, timeout: 10_000 })
    .not.toBeNull()
    .then(() => portsIn(record) ?? { proxy: -1 });
  const server = createServer();
  onTestFinished(() => void server.close());
  await new Promise<void>((resolve) => {
    // The sandbox listens there already.
    server.once('error', () => resolve());
    server.listen(proxy, '127.0.0.1', resolve);
  });
  return proxy;
}

function portsIn(record: string): { readonly proxy: number } | null {
  try {
    return (JSON.parse(readFileSync(record, 'utf8')) as { readonly ports: { readonly proxy: number } }).ports;
  } catch {
    // Not there yet, or half of it.
    return null;
  }
}

function readProcesses(): readonly { readonly environment: string }[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map((pid) => {
    try {
      return { environment: readFileSync(`/proc/${pid}/environ`, 'utf8') };
    } catch {
      return { environment: '' };
    }
  });
}
