/**
 * What only containers have: other programs that change them, a daemon that goes away, labels, a foreign image.
 */
import { mkdirSync } from 'node:fs';
import { createServer } from 'node:http';
import path from 'node:path';
import Docker from 'dockerode';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { openToContainers } from '../../host/proxy/endpoints.ts';
import { containerName } from '../../runtimes/docker/names.ts';
import { freezerOf, isFrozen, setFrozen } from '../../runtimes/on-host/kernel-freezer.ts';
import { createDockerHarness } from '../contract/docker-harness.ts';
import type { DockerHarness } from '../contract/docker-harness.ts';
import { runInside } from '../contract/runtime-inside.ts';
import { newId, newRequest } from '../contract/runtime-suite.ts';
import type { Up } from '../contract/runtime-suite.ts';
import { dockerSocket, isOwnDaemon, restartDaemon } from '../../scripts/docker-daemon.ts';
import { describeWith } from '../helpers/requires.ts';

describeWith('dockerd', 'Docker runtime, other hands', () => {
  let harness: DockerHarness;
  let docker: Docker;
  beforeAll(async () => {
    harness = await createDockerHarness();
    docker = new Docker({ socketPath: dockerSocket(), host: '' });
  });
  afterEach(async () => {
    for (const { sandboxId } of await harness.runtime.list()) await harness.runtime.destroy(sandboxId);
  });
  afterAll(() => harness.close());

  const up = async (given: Parameters<typeof newRequest>[0] = {}): Promise<Up> => {
    const request = newRequest(given);
    const address = await harness.runtime.start(request);
    return { address, sessionKey: request.sessionKey, id: request.sandboxId };
  };
  const containerOf = ({ id }: Pick<Up, 'id'>, generation = 1): Docker.Container =>
    docker.getContainer(containerName(harness.options.dataDir, id, generation));

  it('shows the session key to nobody who may ask the daemon', async () => {
    const sandbox = await up();
    const told = JSON.stringify(await containerOf(sandbox).inspect());
    const log = await containerOf(sandbox).logs({ stdout: true, stderr: true });
    expect(told).not.toContain(sandbox.sessionKey);
    expect(log.toString()).not.toContain(sandbox.sessionKey);
  });

  it('leaves health and restarts to nobody else', async () => {
    const { Config: config, HostConfig } = await containerOf(await up()).inspect();
    expect(config.Healthcheck?.Test).toEqual(['NONE']);
    expect(HostConfig.RestartPolicy?.Name).toBe('no');
  });

  it('takes what is paused by hand for frozen, and a start lets it go on', async () => {
    const request = newRequest();
    await harness.runtime.start(request);
    await containerOf({ id: request.sandboxId }).pause();
    expect(await harness.runtime.inspect(request.sandboxId)).toMatchObject({ kind: 'up', isFrozen: true });
    await harness.runtime.start(request);
    expect(await harness.runtime.inspect(request.sandboxId)).not.toHaveProperty('isFrozen');
  });

  it('takes what is removed by hand for a crash with its files kept, and starts it again', async () => {
    const sandbox = await up();
    await runInside(sandbox, 'echo kept > file');
    await containerOf(sandbox).remove({ force: true });
    expect(await harness.runtime.inspect(sandbox.id)).toMatchObject({
      kind: 'crashed',
      reason: 'its container was removed by somebody else',
    });
    const again = await up({ sandboxId: sandbox.id, generation: 2 });
    expect((await runInside(again, 'cat file')).stdout).toBe('kept\n');
  });

  it('replaces a container of the same name that an answer was lost for', async () => {
    const request = newRequest();
    const name = containerName(harness.options.dataDir, request.sandboxId, 1);
    await up();
    const [image = ''] = (await docker.listImages()).flatMap(({ RepoTags }) => RepoTags ?? []);
    await docker.createContainer({ name, Image: image, Cmd: ['/bin/true'] });
    const address = await harness.runtime.start(request);
    const sandbox = { address, sessionKey: request.sessionKey, id: request.sandboxId };
    expect((await runInside(sandbox, 'echo up')).stdout).toBe('up\n');
  });

  it('removes containers that no sandbox owns, and nobody else’s', async () => {
    const sandbox = await up();
    const [own] = await docker.listContainers({ all: true });
    const orphan = { Image: own?.Image ?? '', Cmd: ['/bin/true'] };
    const id = newId();
    const marks = { ...own?.Labels, 'dev.parley.sandbox': id };
    await docker.createContainer({ ...orphan, name: `orphan-${id}`, Labels: marks });
    const foreign = await docker.createContainer({
      ...orphan,
      Labels: { ...marks, 'dev.parley.installation': 'ffffffff' },
    });
    expect(await harness.runtime.removeLeftovers?.()).toEqual([`container of sandbox ${id}, generation 1`]);
    expect(await harness.runtime.removeLeftovers?.()).toEqual([]);
    expect((await foreign.inspect()).Id).toBe(foreign.id);
    await foreign.remove();
    expect((await runInside(sandbox, 'echo here')).stdout).toBe('here\n');
  });

  it('ends by itself when nobody hands it a key', async () => {
    const sandbox = await up();
    const { Config: config, HostConfig } = await containerOf(sandbox).inspect();
    await harness.runtime.stop({ sandboxId: sandbox.id, generation: 1 });
    mkdirSync(path.dirname(harness.options.socketDir), { recursive: true });
    const keyless = await docker.createContainer({
      ...config,
      HostConfig: {
        ...HostConfig,
        Mounts: HostConfig.Mounts?.filter((mount) => mount.Target.startsWith('/opt')) ?? [],
      },
    });
    const stdin = await keyless.attach({ stream: true, stdin: true, hijack: true });
    await keyless.start();
    stdin.end();
    expect(await keyless.wait()).toMatchObject({ StatusCode: 70 });
    expect((await keyless.logs({ stdout: true, stderr: true })).toString()).toContain('no session key came');
    await keyless.remove();
  });

  it('reaches the sockets of the host through loopback, as its own user', async () => {
    const { proxy } = harness.options.hostSockets;
    mkdirSync(path.dirname(proxy), { recursive: true, mode: 0o700 });
    const server = createServer((_, response) => response.end('from the host'));
    await new Promise<void>((resolve) => server.listen(proxy, resolve));
    const sandbox = await up();
    const get = `require('http').get('${sandbox.address.routes.proxyUrl}',r=>r.pipe(process.stdout))`;
    const call = `node -e "${get}.on('error',()=>console.log('closed'))"`;
    expect((await runInside(sandbox, call)).stdout).toBe('closed\n');
    await openToContainers([proxy]);
    expect((await runInside(sandbox, call)).stdout).toBe('from the host');
    await new Promise((resolve) => server.close(resolve));
  });

  it('says what to do about an image that is not there', async () => {
    const other = await createDockerHarness({ image: `sha256:${'0'.repeat(64)}` });
    const failing = other.runtime.start(newRequest());
    await expect(failing).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('set runtime.docker.image to "host"'),
    });
    await other.close();
  });

  it('runs an image by its digest', async () => {
    await up();
    const [image] = await docker.listImages();
    const other = await createDockerHarness({ image: image?.Id ?? '' });
    const request = newRequest();
    // The host's image has Node.js in a place of its own, which a search path of an image would name.
    const failing = other.runtime.start(request);
    await expect(failing).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('node'),
    });
    await other.runtime.destroy(request.sandboxId);
    await other.close();
  });

  it('sees and ends a pause that a killed daemon has forgotten', async () => {
    const sandbox = await up();
    const target = { sandboxId: sandbox.id, generation: 1 };
    // As a daemon leaves it that is killed between the kernel's freeze and its own note of it.
    const forget = async (): Promise<void> => {
      const { Id, State } = await containerOf(sandbox).inspect();
      const freezer = await freezerOf(State.Pid, Id);
      expect(freezer).not.toBeNull();
      if (freezer === null) return;
      await setFrozen(freezer, true);
      await expect.poll(() => isFrozen(freezer)).toBe(true);
      expect((await containerOf(sandbox).inspect()).State).toMatchObject({
        Status: 'running',
        Paused: false,
      });
      expect(await harness.runtime.inspect(sandbox.id)).toMatchObject({ kind: 'up', isFrozen: true });
    };
    await forget();
    await harness.runtime.freezer?.freeze(target);
    await harness.runtime.freezer?.thaw(target);
    expect((await runInside(sandbox, 'echo alive')).stdout).toBe('alive\n');
    await forget();
    await harness.runtime.start(newRequest({ sandboxId: sandbox.id, sessionKey: sandbox.sessionKey }));
    expect((await runInside(sandbox, 'echo again')).stdout).toBe('again\n');
    await forget();
    await harness.runtime.stop(target);
    expect((await harness.runtime.inspect(sandbox.id)).kind).toBe('stopped');
  });

  it('knows nothing while the daemon is away, and finds everything when it is back', async () => {
    if (!isOwnDaemon()) return;
    const sandbox = await up();
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await restartDaemon(signal, async () => {
        expect((await harness.runtime.inspect(sandbox.id)).kind).toBe('unknown');
      });
      expect(await harness.runtime.inspect(sandbox.id)).toMatchObject({
        kind: 'up',
        address: sandbox.address,
      });
      expect((await runInside(sandbox, 'echo alive')).stdout).toBe('alive\n');
    }
    await harness.runtime.stop({ sandboxId: sandbox.id, generation: 1 });
    expect((await harness.runtime.inspect(sandbox.id)).kind).toBe('stopped');
  });
});
