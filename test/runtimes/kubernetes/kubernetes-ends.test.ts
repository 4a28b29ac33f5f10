/**
 * How sandboxes in a cluster end: by order, by other clients, by their node; what holds their files meanwhile.
 */
import { connect, createServer } from 'node:net';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createKubernetesRuntime } from '../../../runtimes/kubernetes/kubernetes-runtime.ts';
import { podName, volumeName } from '../../../runtimes/kubernetes/names.ts';
import { BOUND_PORTS } from '../../../runtimes/on-host/inside-view.ts';
import { newId, newRequest, settled } from '../../contract/runtime-suite.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import type { PodStatus } from './fake-api/api-object.ts';
import { nextAddress } from './fake-api/pod-addresses.ts';
import { createScriptedHarness } from './kubernetes-harness.ts';
import type { ScriptedHarness } from './kubernetes-harness.ts';

const FINALIZER = 'dev.parley/archive-before-delete';

let harness: ScriptedHarness;
beforeEach(async () => {
  harness = await createScriptedHarness();
});
afterEach(() => harness.close());

const up = async (given: Parameters<typeof newRequest>[0] = {}): Promise<ReturnType<typeof newRequest>> => {
  const request = newRequest(given);
  await harness.runtime.start(request);
  return request;
};
const volumeOf = ({ sandboxId }: Pick<ReturnType<typeof newRequest>, 'sandboxId'>): string =>
  volumeName('test', sandboxId);
const podOf = ({ sandboxId, generation }: ReturnType<typeof newRequest>): string =>
  podName('test', sandboxId, generation);

describe('the files of a sandbox in a cluster', () => {
  it('are held when somebody deletes the volume, until Parley has archived them and destroys it', async () => {
    const request = await up();
    const { store } = harness.api;
    store.remove('persistentvolumeclaims', volumeOf(request));
    await harness.runtime.stop(request);
    expect(store.get('persistentvolumeclaims', volumeOf(request)).metadata).toMatchObject({
      deletionTimestamp: expect.any(String),
      finalizers: [FINALIZER],
    });
    expect(harness.runner.removedVolumes).toEqual([]);
    expect(await harness.runtime.inspect(request.sandboxId)).toEqual({ kind: 'stopped', generation: 1 });
    await expect(harness.runtime.start({ ...request, generation: 2 })).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('kept until it was archived'),
    });
    expect(store.find('persistentvolumeclaims', volumeOf(request))).not.toBeNull();
    await harness.runtime.destroy(request.sandboxId);
    expect(store.find('persistentvolumeclaims', volumeOf(request))).toBeNull();
    expect(harness.runner.removedVolumes).toHaveLength(1);
  });

  it('go after the pod, and a removal that was cut off goes on', async () => {
    const request = await up();
    const { calls, faults, store } = harness.api;
    faults.add({ of: /^DELETE .*persistentvolumeclaims/, what: 'reset', times: 1 });
    await expect(harness.runtime.destroy(request.sandboxId)).rejects.toMatchObject({
      code: 'runtime_unreachable',
    });
    expect(await harness.runtime.inspect(request.sandboxId)).toEqual({ kind: 'gone' });
    expect((await harness.runtime.list()).map(({ sandboxId }) => sandboxId)).toEqual([request.sandboxId]);
    await harness.reopen().destroy(request.sandboxId);
    expect(store.all('persistentvolumeclaims')).toEqual([]);
    const removals = calls.filter((call) => /^DELETE .*(pods|volumeclaims)/.test(call));
    expect(removals.map((call) => /pods|persistentvolumeclaims/.exec(call)?.[0])).toEqual([
      'pods',
      'persistentvolumeclaims',
      'persistentvolumeclaims',
    ]);
  });

  it('are read by a pod beside the sandbox, with a secret of its own, and both are gone afterwards', async () => {
    const request = await up();
    let text = '';
    for await (const chunk of harness.runtime.exportWorkspace(request.sandboxId))
      text += String(Buffer.from(chunk));
    const [agent, reader] = harness.runner.ran;
    expect(agent).toBe(podOf(request));
    expect(reader).toMatch(new RegExp(`^${podOf(request)}-r[0-9a-f]{6}$`));
    expect(text).toBe(`workspace of ${reader}`);
    expect(harness.api.store.all('pods').map(({ metadata }) => metadata.name)).toEqual([agent]);
    expect(harness.api.store.all('secrets')).toEqual([]);
    expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('up');
  });

  it('are read on a node that is full, too: the reader asks for next to nothing, and may have more', async () => {
    const request = await up();
    const reading = harness.runtime.exportWorkspace(request.sandboxId)[Symbol.asyncIterator]();
    await reading.next();
    const [, reader = ''] = harness.runner.ran;
    const pod = harness.api.store.find('pods', reader);
    await reading.return?.();
    const requests = { cpu: '10m', memory: '64Mi' };
    const limits = { cpu: '500m', memory: '256Mi' };
    expect(pod).toMatchObject({ spec: { containers: [{ resources: { requests, limits } }] } });
  });

  it('cannot be read when no reader can run, and nothing is left of the attempt', async () => {
    const request = await up();
    harness.kubelet.images = new Set();
    harness.api.faults.add({ of: /^POST .*pods/, what: 403, times: 1, message: 'exceeded quota' });
    const reading = harness.runtime.exportWorkspace(request.sandboxId)[Symbol.asyncIterator]().next();
    await expect(reading).rejects.toMatchObject({ code: 'workspace_unreadable' });
    expect(harness.api.store.all('secrets')).toEqual([]);
  });
});

describe('an incarnation in a cluster that ends by itself', () => {
  it.each<[string, { exitCode: number; reason: string }, Partial<PodStatus>, object, string]>([
    ['its agent exits', { exitCode: 9, reason: 'Error' }, {}, { kind: 'exit', exitCode: 9 }, 'exit code 9'],
    [
      'the kernel ends it',
      { exitCode: 137, reason: 'OOMKilled' },
      {},
      { kind: 'out_of_memory' },
      'used up its memory',
    ],
    [
      'its node runs out of memory',
      { exitCode: 137, reason: 'Error' },
      { reason: 'Evicted', message: 'The node was low on resource: memory.' },
      { kind: 'exit', exitCode: null },
      'Evicted: The node was low on resource: memory.',
    ],
    [
      'it writes more than it may',
      { exitCode: 137, reason: 'Error' },
      {
        reason: 'Evicted',
        message: 'Pod ephemeral local storage usage exceeds the total limit of containers 64Mi.',
      },
      { kind: 'disk_limit' },
      'Evicted: Pod ephemeral local storage',
    ],
    [
      'it lives too long for the cluster',
      { exitCode: 137, reason: 'Error' },
      {
        reason: 'DeadlineExceeded',
        message: 'Pod was active on the node longer than the specified deadline',
      },
      { kind: 'exit', exitCode: null },
      'DeadlineExceeded',
    ],
  ])('has last words: %s', async (_, end, status, cause, words) => {
    const request = await up();
    harness.runner.text = 'the last line\n';
    harness.kubelet.end(podOf(request), end, status);
    const crashed = await settled(harness.runtime, request.sandboxId, 'crashed');
    expect(crashed).toMatchObject({
      kind: 'crashed',
      generation: 1,
      cause,
      reason: expect.stringContaining(words),
    });
    expect(crashed).toMatchObject({ reason: expect.stringContaining('the last line') });
    await harness.runtime.start(newRequest({ sandboxId: request.sandboxId, generation: 2 }));
    expect(harness.api.store.all('pods').map(({ metadata }) => metadata.name)).toEqual([
      podName('test', request.sandboxId, 2),
    ]);
  });

  it('was stopped and kept its files when somebody removed its pod', async () => {
    const request = await up();
    harness.api.store.drop('pods', podOf(request));
    expect(await harness.runtime.inspect(request.sandboxId)).toEqual({
      ...{ kind: 'stopped', generation: 1, isEvicted: true },
    });
    expect(harness.api.store.find('persistentvolumeclaims', volumeOf(request))).not.toBeNull();
  });

  it('is neither up nor crashed while its node does not answer', async () => {
    const request = await up();
    harness.api.store.change(
      'pods',
      podOf(request),
      (pod) => (pod.status = { ...pod.status, reason: 'NodeLost' }),
    );
    expect(await harness.runtime.inspect(request.sandboxId)).toEqual({
      kind: 'unknown',
      reason: 'its node does not answer',
    });
  });

  it('is not stopped before its node has said so', async () => {
    const request = await up();
    harness.kubelet.isAway = true;
    const stopping = harness.runtime.stop(request);
    await expect
      .poll(() => harness.api.store.find('pods', podOf(request))?.metadata.deletionTimestamp, {
        timeout: 20_000,
      })
      .toBeDefined();
    expect((await harness.reopen().inspect(request.sandboxId)).kind).toBe('unknown');
    harness.kubelet.isAway = false;
    await stopping;
    expect(await harness.runtime.inspect(request.sandboxId)).toEqual({ kind: 'stopped', generation: 1 });
  });
});

describe('what is left over in a cluster', () => {
  it('is removed: pods of older generations and of no sandbox, readers that ended, secrets without a pod', async () => {
    const request = await up({ generation: 2 });
    const { store, namespace } = harness.api;
    const make = (resource: 'pods' | 'secrets', name: string, given: Record<string, string> = {}): void => {
      const labels = {
        'dev.parley/installation': 'test',
        'dev.parley/sandbox': request.sandboxId,
        'dev.parley/generation': '1',
        'dev.parley/role': 'agent',
        ...given,
      };
      store.create(resource, namespace, { metadata: { name, labels }, spec: { containers: [] } });
    };
    make('pods', 'older');
    make('pods', 'nobody', { 'dev.parley/sandbox': newId() });
    make('pods', 'reader', { 'dev.parley/role': 'reader', 'dev.parley/generation': '2' });
    await settledPods(3);
    harness.kubelet.end('reader', { exitCode: 0, reason: 'Completed' });
    make('secrets', 'unowned');
    make('pods', 'foreign', { 'dev.parley/installation': 'other' });
    make('secrets', 'foreign', { 'dev.parley/installation': 'other' });
    const removed = await harness.runtime.removeLeftovers?.();
    expect([...(removed ?? [])].sort()).toEqual(['pod nobody', 'pod older', 'pod reader', 'secret unowned']);
    expect(await harness.runtime.removeLeftovers?.()).toEqual([]);
    expect(store.all('pods').map(({ metadata }) => metadata.name)).toEqual([podOf(request), 'foreign']);
    expect(store.all('secrets').map(({ metadata }) => metadata.name)).toEqual(['foreign']);
    expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('up');
  });

  const settledPods = async (count: number): Promise<void> => {
    const running = (): number =>
      harness.api.store.all('pods').filter(({ status }) => status?.podIP !== undefined).length;
    await expect.poll(running, { timeout: 90_000 }).toBeGreaterThan(count);
  };
});

describe('the ways of pods, when the process that opened them has ended', () => {
  const succeeding = async () => {
    const dir = tempDir();
    const hostSockets = {
      proxy: path.join(dir, 'proxy.sock'),
      webhook: path.join(dir, 'webhook.sock'),
      git: path.join(dir, 'git.sock'),
    };
    const server = createServer((connection) => connection.end('here'));
    await new Promise<void>((resolve) => server.listen(hostSockets.proxy, resolve));
    onTestFinished(() => void server.close());
    const listen = nextAddress();
    const successor = createKubernetesRuntime({
      ...harness.options,
      gates: { listen, hostSockets, egressSocket: null },
    });
    const answer = (): Promise<string> =>
      text(connect({ host: listen, port: BOUND_PORTS.proxy })).catch(() => 'closed');
    return { answer, successor };
  };

  it('are opened again by its successor as soon as it has seen that pods run, without a start', async () => {
    const { answer, successor } = await succeeding();
    await successor.list();
    expect(await answer()).toBe('closed');
    await up();
    await successor.list();
    expect(await answer()).toBe('here');
  });

  it('are open in a worker that a service may lead them to, before it has seen any pod', async () => {
    const { answer, successor } = await succeeding();
    expect(await answer()).toBe('closed');
    await successor.openWays?.();
    await successor.openWays?.();
    expect(await answer()).toBe('here');
  });
});
