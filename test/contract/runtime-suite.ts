/**
 * What every sandbox runtime must do, whatever it is made of.
 * Owns the cases; a test file passes a factory and registers them. The sandboxes run the stand-in Agent Server.
 */
import { randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { mkdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { extract } from 'tar';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { sandboxId } from '../../core/ids.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { SandboxAddress, SandboxRuntime, StartSandboxRequest } from '../../ports/sandbox-runtime.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { post, runInside } from './runtime-inside.ts';

export interface RuntimeHarness {
  readonly runtime: SandboxRuntime;
  /** A second runtime object over the same storage, as after a restart of ours. */
  reopen(): SandboxRuntime;
  /** Absolute path on the host of a sandbox's workspace, or where it would be. */
  workspaceOf(id: SandboxId): string;
  close(): Promise<void>;
}

/** Time a sandbox gets to become ready in a test; the machine may be busy. */
const READY_MS = 20_000;

export function describeRuntime(createHarness: () => Promise<RuntimeHarness>): void {
  let harness: RuntimeHarness;
  let runtime: SandboxRuntime;
  beforeEach(async () => {
    harness = await createHarness();
    runtime = harness.runtime;
  });
  afterEach(async () => {
    for (const { sandboxId: id } of await runtime.list()) await runtime.destroy(id);
    await harness.close();
  });

  const up = async (request: StartSandboxRequest): Promise<Up> => {
    const address = await runtime.start(request);
    return { address, sessionKey: request.sessionKey, id: request.sandboxId };
  };

  it('starts once for one incarnation, however often and from wherever it is asked', async () => {
    const request = newRequest();
    const addresses = await Promise.all([1, 2, 3].map(() => runtime.start(request)));
    const sandbox = await up(request);
    expect(addresses).toEqual([sandbox.address, sandbox.address, sandbox.address]);
    expect(await bootsSeen(sandbox)).toBe('1');
    expect(await harness.reopen().start(request)).toEqual(sandbox.address);
  });

  it('keeps files over a stop and resumes as a new incarnation with a new key', async () => {
    const first = await up(newRequest());
    await runInside(first, 'echo kept > file.txt');
    await runtime.stop({ sandboxId: first.id, generation: 1 });
    expect(await runtime.inspect(first.id)).toEqual({ kind: 'stopped', generation: 1 });
    await expect(post(first, '/run', 'true')).rejects.toThrow();
    const second = await up(newRequest({ sandboxId: first.id, generation: 2 }));
    expect((await runInside(second, 'cat file.txt')).stdout).toBe('kept\n');
    expect((await post({ ...second, sessionKey: first.sessionKey }, '/run', 'true')).status).toBe(401);
  });

  it('stops what is stopped or gone without complaint', async () => {
    const { id } = await up(newRequest());
    await runtime.stop({ sandboxId: id, generation: 1 });
    await runtime.stop({ sandboxId: id, generation: 1 });
    await runtime.stop({ sandboxId: newId(), generation: 1 });
  });

  it('destroys with all files, and again', async () => {
    const { id } = await up(newRequest());
    await runtime.destroy(id);
    await runtime.destroy(id);
    expect(await runtime.inspect(id)).toEqual({ kind: 'gone' });
    expect(await runtime.list()).toEqual([]);
    const fresh = await up(newRequest({ sandboxId: id, generation: 2 }));
    expect((await runInside(fresh, 'ls -A')).stdout).toBe('');
  });

  it('destroys trees that resist: links outwards, modes taken away, odd names', async () => {
    const outside = path.join(tempDir(), 'outside');
    mkdirSync(outside);
    writeFileSync(path.join(outside, 'file'), 'still there');
    const sandbox = await up(newRequest());
    const make = `mkdir -p a/b && ln -s ${outside} a/out && : > "a/$(printf 'x\\377y')" && chmod 500 a/b a`;
    const made = await runInside(sandbox, make);
    expect(made.code, made.stderr).toBe(0);
    await runtime.destroy(sandbox.id);
    expect(await runtime.list()).toEqual([]);
    expect(readFileSync(path.join(outside, 'file'), 'utf8')).toBe('still there');
  });

  it('tells up, stopped, crashed and gone apart', async () => {
    const sandbox = await up(newRequest());
    expect(await runtime.inspect(sandbox.id)).toMatchObject({
      kind: 'up',
      generation: 1,
      address: sandbox.address,
    });
    await post(sandbox, '/print', 'last words\n');
    await post(sandbox, '/exit', '9').catch(() => null);
    const crashed = await settled(runtime, sandbox.id, 'crashed');
    expect(crashed).toMatchObject({
      kind: 'crashed',
      generation: 1,
      reason: expect.stringContaining('last words'),
    });
    expect(await runtime.inspect(newId())).toEqual({ kind: 'gone' });
    const again = await up(newRequest({ sandboxId: sandbox.id, generation: 2 }));
    expect((await runInside(again, 'true')).code).toBe(0);
  });

  it('never calls a sandbox crashed or gone while it comes up again', async () => {
    const { id } = await up(newRequest());
    await runtime.stop({ sandboxId: id, generation: 1 });
    const seen = new Set<string>();
    let isComing = true;
    const coming = up(newRequest({ sandboxId: id, generation: 2 })).finally(() => (isComing = false));
    while (isComing) seen.add((await runtime.inspect(id)).kind);
    await coming;
    expect([...seen].filter((kind) => !['stopped', 'unknown', 'up'].includes(kind))).toEqual([]);
  });

  it('lists what it holds, up or not', async () => {
    const first = await up(newRequest());
    const second = await up(newRequest({ generation: 4 }));
    await runtime.stop({ sandboxId: first.id, generation: 1 });
    expect(new Set(await runtime.list())).toEqual(
      new Set([
        { sandboxId: first.id, generation: 1, up: false },
        { sandboxId: second.id, generation: 4, up: true },
      ]),
    );
  });

  it('adopts what runs when it is opened anew', async () => {
    const sandbox = await up(newRequest());
    const reopened = harness.reopen();
    expect(await reopened.inspect(sandbox.id)).toMatchObject({ kind: 'up', address: sandbox.address });
    expect((await runInside(sandbox, 'echo alive')).stdout).toBe('alive\n');
    await reopened.stop({ sandboxId: sandbox.id, generation: 1 });
    expect(await runtime.inspect(sandbox.id)).toEqual({ kind: 'stopped', generation: 1 });
  });

  it('replaces an older incarnation that is still up', async () => {
    const first = await up(newRequest());
    const second = await up(newRequest({ sandboxId: first.id, generation: 2 }));
    expect((await post({ ...second, sessionKey: first.sessionKey }, '/run', 'true')).status).toBe(401);
    expect(await bootsSeen(second)).toBe('1');
  });

  it('refuses orders of an earlier incarnation', async () => {
    const sandbox = await up(newRequest({ generation: 3 }));
    const late = newRequest({ sandboxId: sandbox.id, generation: 2 });
    await expect(runtime.start(late)).rejects.toMatchObject({ code: 'stale_generation' });
    await expect(runtime.stop(late)).rejects.toMatchObject({ code: 'stale_generation' });
    await runtime.stop({ sandboxId: sandbox.id, generation: 3 });
    const stopped = newRequest({ sandboxId: sandbox.id, generation: 3 });
    await expect(runtime.start(stopped)).rejects.toMatchObject({ code: 'stale_generation' });
    await runtime.destroy(sandbox.id);
    await expect(runtime.start(stopped)).rejects.toMatchObject({ code: 'stale_generation' });
  });

  it('starts many at once', async () => {
    const sandboxes = await Promise.all(Array.from({ length: 4 }, () => up(newRequest())));
    const words = await Promise.all(
      sandboxes.map((sandbox) => runInside(sandbox, 'echo $PARLEY_SANDBOX_ID')),
    );
    expect(words.map((word) => word.stdout.trim())).toEqual(sandboxes.map((sandbox) => sandbox.id));
  });

  it('gives a reason for a death before readiness', async () => {
    const first = await up(newRequest());
    await runInside(first, 'touch die-at-boot');
    await runtime.stop({ sandboxId: first.id, generation: 1 });
    const failing = runtime.start(newRequest({ sandboxId: first.id, generation: 2 }));
    await expect(failing).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('told to die'),
    });
  });

  it('ends a start at its deadline, and one that a destruction overtakes', async () => {
    const first = await up(newRequest());
    await runInside(first, 'touch never-ready');
    await runtime.stop({ sandboxId: first.id, generation: 1 });
    const late = newRequest({ sandboxId: first.id, generation: 2, deadline: Date.now() + 1_500 });
    await expect(runtime.start(late)).rejects.toMatchObject({ code: 'runtime_failed' });
    expect(await runtime.inspect(first.id)).toMatchObject({ kind: 'crashed', generation: 2 });
    const overtaken = runtime.start(newRequest({ sandboxId: first.id, generation: 3 }));
    const refused = expect(overtaken).rejects.toMatchObject({ code: 'stale_generation' });
    await settled(runtime, first.id, 'up');
    await runtime.destroy(first.id);
    await refused;
    expect(await runtime.inspect(first.id)).toEqual({ kind: 'gone' });
  });

  it('exports the workspace, up or stopped, with links kept and special files left out', async () => {
    const sandbox = await up(newRequest());
    const make =
      'mkdir -p d/e && echo text > d/e/f && ln -s /etc/passwd d/link && mkfifo pipe && printf x > .hidden';
    await runInside(sandbox, `${make} && head -c 1000000 /dev/zero > "big file"`);
    for (const state of ['up', 'stopped']) {
      const target = path.join(tempDir(), state);
      mkdirSync(target);
      await pipeline(
        Readable.from(runtime.exportWorkspace(sandbox.id)),
        extract({ cwd: target, preservePaths: true }),
      );
      expect(readFileSync(path.join(target, 'd/e/f'), 'utf8')).toBe('text\n');
      expect(readlinkSync(path.join(target, 'd/link'))).toBe('/etc/passwd');
      expect(readFileSync(path.join(target, 'big file')).length).toBe(1_000_000);
      expect(readFileSync(path.join(target, '.hidden'), 'utf8')).toBe('x');
      await runtime.stop({ sandboxId: sandbox.id, generation: 1 });
    }
    await expect(runtime.exportWorkspace(newId())[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: 'runtime_gone',
    });
  });
}

export interface Up {
  readonly address: SandboxAddress;
  readonly sessionKey: string;
  readonly id: SandboxId;
}

export function newId(): SandboxId {
  return sandboxId(randomBytes(16).toString('hex'));
}

export function newRequest(given: Partial<StartSandboxRequest> = {}): StartSandboxRequest {
  return {
    sandboxId: newId(),
    generation: 1,
    sessionKey: randomBytes(24).toString('hex'),
    deadline: Date.now() + READY_MS,
    ...given,
  };
}

/** How often the Agent Server of this generation was booted. */
async function bootsSeen(sandbox: Up): Promise<string> {
  const { generation } = sandbox.address;
  const boots = (await post(sandbox, '/kept', 'boots')).body.trim().split('\n');
  return String(boots.filter((line) => line === String(generation)).length);
}

/** Polls until the runtime reports that state: what the kernel does to processes takes a moment. */
export async function settled(
  runtime: SandboxRuntime,
  id: SandboxId,
  kind: string,
): Promise<Awaited<ReturnType<SandboxRuntime['inspect']>>> {
  const until = Date.now() + READY_MS;
  for (;;) {
    const presence = await runtime.inspect(id);
    if (presence.kind === kind || Date.now() > until) return presence;
    await new Promise((resolve) => setImmediate(resolve));
  }
}
