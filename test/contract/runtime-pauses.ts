/**
 * Pauses, fences and deadlines of a runtime, each with a sandbox of its own.
 * Owns the cases; what a runtime cannot do, its capabilities say, and the case then asks that it says so.
 */
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SandboxRuntime, StartSandboxRequest } from '../../ports/sandbox-runtime.ts';
import { post, runInside } from './runtime-inside.ts';
import { newId, newRequest, settled } from './runtime-suite.ts';
import type { RuntimeHarness, Up } from './runtime-suite.ts';

/** What no compression makes small, and more than any part of the way keeps in memory. */
const EXPORTED_BYTES = 4 * 1024 ** 2;

export function describeRuntimePauses(createHarness: () => Promise<RuntimeHarness>): void {
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

  it('freezes and thaws with its memory, says so, and repeats harmlessly', async () => {
    const { freezer } = runtime;
    const sandbox = await up(newRequest());
    if (freezer === undefined) {
      expect(runtime.capabilities.pause).toEqual(['files']);
      return;
    }
    const target = { sandboxId: sandbox.id, generation: 1 };
    await freezer.freeze(target);
    await freezer.freeze(target);
    expect(await runtime.inspect(sandbox.id)).toMatchObject({ kind: 'up', isFrozen: true });
    const answer = runInside(sandbox, 'echo later');
    await freezer.thaw(target);
    await freezer.thaw(target);
    expect((await answer).stdout).toBe('later\n');
    expect(await runtime.inspect(sandbox.id)).not.toHaveProperty('isFrozen');
  });

  it.each(['stops', 'destroys', 'starts again'] as const)(
    '%s a frozen sandbox as any other',
    async (what) => {
      const request = newRequest();
      const sandbox = await up(request);
      const target = { sandboxId: sandbox.id, generation: 1 };
      await runtime.freezer?.freeze(target);
      switch (what) {
        case 'stops':
          await runtime.stop(target);
          expect((await runtime.inspect(sandbox.id)).kind).toBe('stopped');
          break;
        case 'destroys':
          await runtime.destroy(sandbox.id);
          expect((await runtime.inspect(sandbox.id)).kind).toBe('gone');
          break;
        case 'starts again':
          await runtime.start(request);
          expect((await runInside(sandbox, 'echo thawed')).stdout).toBe('thawed\n');
      }
    },
  );

  it('asks a frozen sandbox to end before it kills it, as any other', async () => {
    const { id } = await up(newRequest());
    await runtime.freezer?.freeze({ sandboxId: id, generation: 1 });
    await runtime.stop({ sandboxId: id, generation: 1 });
    const again = await up(newRequest({ sandboxId: id, generation: 2 }));
    expect((await post(again, '/kept', 'asked-to-end')).body).toBe('1\n');
  });

  it('refuses to freeze what is not up, and an older incarnation', async () => {
    const { freezer } = runtime;
    if (freezer === undefined) return;
    await expect(freezer.freeze({ sandboxId: newId(), generation: 1 })).rejects.toMatchObject({
      code: 'runtime_gone',
    });
    const sandbox = await up(newRequest({ generation: 2 }));
    const older = { sandboxId: sandbox.id, generation: 1 };
    await expect(freezer.freeze(older)).rejects.toMatchObject({ code: 'stale_generation' });
    await runtime.stop({ sandboxId: sandbox.id, generation: 2 });
    await expect(freezer.thaw({ ...older, generation: 2 })).rejects.toMatchObject({ code: 'runtime_gone' });
  });

  it('stops and destroys the same sandbox at once', async () => {
    const { id } = await up(newRequest());
    await Promise.all([
      runtime.stop({ sandboxId: id, generation: 1 }),
      runtime.destroy(id),
      runtime.destroy(id),
    ]);
    expect(await runtime.inspect(id)).toEqual({ kind: 'gone' });
  });

  it('keeps an unfinished write out of nobody else: two sandboxes have two workspaces', async () => {
    const [one, two] = await Promise.all([up(newRequest()), up(newRequest())]);
    await runInside(one, 'echo one > same-name');
    expect((await runInside(two, 'cat same-name')).code).not.toBe(0);
    await runtime.destroy(one.id);
    expect((await runInside(two, 'echo alive')).stdout).toBe('alive\n');
  });

  it('tells the exit code of an agent that ended by itself, where it can', async () => {
    const sandbox = await up(newRequest());
    await post(sandbox, '/exit', '9').catch(() => null);
    const crashed = await settled(runtime, sandbox.id, 'crashed');
    expect(crashed.kind).toBe('crashed');
    if (crashed.kind !== 'crashed' || crashed.cause === undefined) return;
    expect(crashed.cause.kind).toBe('exit');
    if (crashed.cause.kind === 'exit') expect([9, null]).toContain(crashed.cause.exitCode);
  });

  it('exports a crashed sandbox, and destroys it', async () => {
    const sandbox = await up(newRequest());
    await runInside(sandbox, 'echo work > file');
    await post(sandbox, '/exit', '1').catch(() => null);
    await settled(runtime, sandbox.id, 'crashed');
    let bytes = 0;
    for await (const chunk of runtime.exportWorkspace(sandbox.id)) bytes += chunk.length;
    expect(bytes).toBeGreaterThan(0);
    await runtime.destroy(sandbox.id);
    expect(await runtime.list()).toEqual([]);
  });

  it('is not held by an export that is being read, and a frozen one is not woken by it', async () => {
    const { freezer } = runtime;
    const sandbox = await up(newRequest());
    await runInside(sandbox, `head -c ${EXPORTED_BYTES} /dev/urandom > file`);
    const reading = runtime.exportWorkspace(sandbox.id)[Symbol.asyncIterator]();
    let bytes = (await reading.next()).value?.length ?? 0;
    // Not read to its end: a backup that stops what it copies holds the sandbox now.
    expect(await runtime.inspect(sandbox.id)).toEqual({
      kind: 'up',
      generation: 1,
      address: sandbox.address,
    });
    expect((await runInside(sandbox, 'echo at work')).stdout).toBe('at work\n');
    await freezer?.freeze({ sandboxId: sandbox.id, generation: 1 });
    for (let next = await reading.next(); next.done !== true; next = await reading.next())
      bytes += next.value.length;
    expect(bytes).toBeGreaterThan(EXPORTED_BYTES);
    if (freezer === undefined) return;
    expect(await runtime.inspect(sandbox.id)).toMatchObject({ kind: 'up', isFrozen: true });
  });

  it('starts nothing for a deadline that has passed', async () => {
    const late = newRequest({ deadline: Date.now() - 1 });
    await expect(runtime.start(late)).rejects.toMatchObject({ code: 'runtime_failed' });
    expect((await runtime.inspect(late.sandboxId)).kind).not.toBe('up');
  });
}
