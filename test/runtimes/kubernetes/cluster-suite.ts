/**
 * What the runtime asks of an API server, and what it must get: names, versions, finalizers, watches, pages, quotas,
 * rights and admission.
 * Owns the cases; they run against the stand-in and, where it was built, against a real API server, so that the stand-in
 * cannot be wrong unnoticed. What runs in a pod is none of this: it needs a node that runs something.
 */
import type { V1Pod } from '@kubernetes/client-node';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { STOP_GRACE_S } from '../../../runtimes/kubernetes/limits.ts';
import { labelsOf, podName, policyName, volumeName } from '../../../runtimes/kubernetes/names.ts';
import { unless } from '../../../runtimes/kubernetes/api-errors.ts';
import type { ClusterApi } from '../../../runtimes/kubernetes/cluster.ts';
import { createPodWatch } from '../../../runtimes/kubernetes/pod-watch.ts';
import { changeRecord, makeRecord, readRecord } from '../../../runtimes/kubernetes/volume-record.ts';
import { volumeSpec } from '../../../runtimes/kubernetes/start-sandbox.ts';
import { DEFAULT_LIMITS } from '../../../runtimes/on-host/limits.ts';
import type { StartSandboxRequest } from '../../../ports/sandbox-runtime.ts';
import { newId, newRequest, settled } from '../../contract/runtime-suite.ts';
import type { ClusterHarness } from './cluster-harness.ts';

const FINALIZER = 'dev.parley/archive-before-delete';
/** One more than the runtime asks for at once. */
const VOLUMES = 501;
/** Calls at once of a test that makes many objects. */
const AT_ONCE = 25;
/** Far beyond what an event takes: a wait that ends here was never woken. */
const NEVER_MS = 60_000;
const CASE_MS_MAX = 600_000;

export function describeCluster(create: () => Promise<ClusterHarness>): void {
  let harness: ClusterHarness;
  beforeEach(async () => {
    harness = await create();
  }, CASE_MS_MAX);
  afterEach(() => harness.close(), CASE_MS_MAX);

  const ask = <T>(work: (api: ClusterApi) => Promise<T>): Promise<T> => harness.cluster.ask('ask', work);
  const inNamespace = (name: string) => ({ name, namespace: harness.cluster.namespace });
  const volumeOf = ({ sandboxId }: Pick<StartSandboxRequest, 'sandboxId'>): string =>
    volumeName('test', sandboxId);
  const podOf = ({ sandboxId, generation }: StartSandboxRequest): string =>
    podName('test', sandboxId, generation);
  const volume = (request: StartSandboxRequest) =>
    ask(({ core }) =>
      unless(['not_found'], core.readNamespacedPersistentVolumeClaim(inNamespace(volumeOf(request)))),
    );
  const pods = async (): Promise<readonly (string | undefined)[]> => {
    const { items } = await ask(({ core }) =>
      core.listNamespacedPod({ namespace: harness.cluster.namespace }),
    );
    return items.map(({ metadata }) => metadata?.name);
  };
  const secrets = async (): Promise<number> => {
    const { namespace } = harness.cluster;
    return (await ask(({ core }) => core.listNamespacedSecret({ namespace }))).items.length;
  };
  const up = async (given: Partial<StartSandboxRequest> = {}): Promise<StartSandboxRequest> => {
    const request = newRequest({ deadline: Date.now() + NEVER_MS, ...given });
    await harness.runtime.start(request);
    return request;
  };
  const test = (name: string, body: () => Promise<void>): void => it(name, body, CASE_MS_MAX);

  test('lives from start to destruction, and leaves neither pod, secret nor volume', async () => {
    const request = await up();
    expect(await harness.runtime.inspect(request.sandboxId)).toMatchObject({ kind: 'up', generation: 1 });
    expect(await pods()).toEqual([podOf(request)]);
    expect(await secrets()).toBe(0);
    await harness.runtime.stop(request);
    expect(await pods()).toEqual([]);
    expect(await harness.runtime.inspect(request.sandboxId)).toEqual({ kind: 'stopped', generation: 1 });
    await up({ sandboxId: request.sandboxId, generation: 2 });
    await harness.runtime.destroy(request.sandboxId);
    expect(await harness.runtime.inspect(request.sandboxId)).toEqual({ kind: 'gone' });
    expect([await pods(), await secrets(), await volume(request)]).toEqual([[], 0, null]);
  });

  test('makes one pod when two processes ask at once, and both get the same address', async () => {
    const request = newRequest({ deadline: Date.now() + NEVER_MS });
    const addresses = await Promise.all([harness.runtime.start(request), harness.reopen().start(request)]);
    expect(addresses[0]).toEqual(addresses[1]);
    expect(await pods()).toEqual([podOf(request)]);
  });

  test('lets the later generation win when two processes ask for two at once', async () => {
    const older = newRequest({ deadline: Date.now() + NEVER_MS });
    const newer = { ...older, generation: 2 };
    const [first, second] = await Promise.allSettled([
      harness.runtime.start(older),
      harness.reopen().start(newer),
    ]);
    expect(second.status).toBe('fulfilled');
    if (first.status === 'rejected') expect(first.reason).toMatchObject({ code: 'stale_generation' });
    await expect.poll(pods, { timeout: NEVER_MS }).toEqual([podOf(newer)]);
    expect(await harness.runtime.inspect(older.sandboxId)).toMatchObject({ kind: 'up', generation: 2 });
  });

  test('tells a start that waits that its sandbox was destroyed by another process', async () => {
    harness.answerWith(503);
    const older = newRequest({ deadline: Date.now() + NEVER_MS });
    const refused = expect(harness.runtime.start(older)).rejects.toMatchObject({ code: 'stale_generation' });
    await expect
      .poll(async () => (await harness.runtime.inspect(older.sandboxId)).kind, { timeout: NEVER_MS })
      .toBe('up');
    await harness.reopen().destroy(older.sandboxId);
    await refused;
  });

  test('lets one of two changes of the same version through', async () => {
    const on = { cluster: harness.cluster, installation: 'test' };
    const order = { options: harness.options, limits: DEFAULT_LIMITS, sandboxId: newId(), generation: 1 };
    const made = await makeRecord(on, volumeSpec(order));
    expect(await makeRecord(on, volumeSpec(order))).toBeNull();
    const read = await readRecord(on, order.sandboxId);
    if (made === null || read === null) throw new Error('the volume was not made');
    expect(read).toEqual(made);
    const both = [changeRecord(on, made, { generation: 2 }), changeRecord(on, read, { generation: 3 })];
    const changed = (await Promise.all(both)).filter((one) => one !== null);
    expect(changed).toHaveLength(1);
    expect(await readRecord(on, order.sandboxId)).toEqual(changed[0]);
  });

  test('holds a volume that somebody deletes, until it was archived and is destroyed', async () => {
    const request = await up();
    await ask(({ core }) => core.deleteNamespacedPersistentVolumeClaim(inNamespace(volumeOf(request))));
    await harness.runtime.stop(request);
    await expect
      .poll(async () => (await volume(request))?.metadata?.finalizers, { timeout: NEVER_MS })
      .toEqual([FINALIZER]);
    expect((await volume(request))?.metadata?.deletionTimestamp).toBeDefined();
    expect(await harness.runtime.inspect(request.sandboxId)).toEqual({ kind: 'stopped', generation: 1 });
    await expect(harness.runtime.start({ ...request, generation: 2 })).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('kept until it was archived'),
    });
    await harness.runtime.destroy(request.sandboxId);
    expect(await volume(request)).toBeNull();
  });

  test('never touches what somebody else has under its name', async () => {
    const request = newRequest({ deadline: Date.now() + NEVER_MS });
    const labels = { 'dev.parley/installation': 'other' };
    const foreign = await ask(({ core }) =>
      core.createNamespacedSecret({
        namespace: harness.cluster.namespace,
        body: { metadata: { name: podOf(request), labels } },
      }),
    );
    await expect(harness.runtime.start(request)).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('belongs to somebody else'),
    });
    await harness.runtime.destroy(request.sandboxId);
    const found = await ask(({ core }) => core.readNamespacedSecret(inNamespace(podOf(request))));
    expect(found.metadata?.uid).toBe(foreign.metadata?.uid);
    expect(found.metadata?.deletionTimestamp).toBeUndefined();
  });

  test('wakes whoever follows a pod, when it comes and when it goes', async () => {
    const events = createPodWatch(harness.cluster, 'test').follow('watched');
    const woken = async (): Promise<boolean> => {
      const late = new AbortController();
      const told = events.next(2 * NEVER_MS).then(() => true);
      const result = await Promise.race([told, pause(NEVER_MS, false, { signal: late.signal })]);
      late.abort();
      return result;
    };
    // The first answer is that everything may have changed.
    expect(await woken()).toBe(true);
    const { namespace } = harness.cluster;
    await ask(({ core }) => core.createNamespacedPod({ namespace, body: plainPod('watched') }));
    expect(await woken()).toBe(true);
    await ask(({ core }) => core.deleteNamespacedPod({ ...inNamespace('watched'), gracePeriodSeconds: 0 }));
    expect(await woken()).toBe(true);
    events.end();
  });

  test('lists page by page', async () => {
    const on = { cluster: harness.cluster, installation: 'test' };
    const ids = Array.from({ length: VOLUMES }, () => newId());
    const left = [...ids];
    const make = async (): Promise<void> => {
      for (let sandboxId = left.pop(); sandboxId !== undefined; sandboxId = left.pop()) {
        const order = { options: harness.options, limits: DEFAULT_LIMITS, sandboxId, generation: 1 };
        await makeRecord(on, volumeSpec(order));
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, make));
    const listed = await harness.runtime.list();
    expect(listed).toHaveLength(VOLUMES);
    expect(new Set(listed.map(({ sandboxId }) => sandboxId))).toEqual(new Set(ids));
  });

  for (const resource of ['pods', 'persistentvolumeclaims', 'secrets'] as const)
    test(`says that a quota is used up: ${resource}`, async () => {
      await harness.limitTo(resource, 0);
      const refused = async (): Promise<unknown> =>
        await harness.runtime.start(newRequest({ deadline: Date.now() + NEVER_MS })).catch((error) => error);
      // A quota counts a moment after it was set.
      await expect.poll(refused, { timeout: NEVER_MS }).toMatchObject({
        code: 'runtime_failed',
        message: expect.stringContaining('exceeded quota'),
        details: { refusal: 'quota_exceeded' },
      });
    });

  test('says that its account has no rights', async () => {
    const runtime = harness.powerless();
    await expect(runtime.start(newRequest({ deadline: Date.now() + NEVER_MS }))).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('resource "persistentvolumeclaims"'),
      details: { refusal: 'forbidden' },
    });
    expect((await runtime.inspect(newId())).kind).toBe('unknown');
  });

  test('is in a namespace that lets no pod in that could gain privileges', async () => {
    const { namespace } = harness.cluster;
    const open = plainPod('open');
    const body = { ...open, spec: { containers: [{ name: 'main', image: harness.options.image }] } };
    await expect(ask(({ core }) => core.createNamespacedPod({ namespace, body }))).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('violates PodSecurity "restricted:latest"'),
    });
    // Pods of ours are let in: this one was.
    const request = await up();
    expect(await pods()).toEqual([podOf(request)]);
  });

  test('closes the network before the first pod, with a policy that the server takes', async () => {
    const request = await up();
    const policy = await ask(({ networking }) =>
      networking.readNamespacedNetworkPolicy(inNamespace(policyName('test'))),
    );
    expect(policy.spec?.policyTypes).toEqual(['Ingress', 'Egress']);
    expect(policy.spec?.ingress?.[0]?.ports).toMatchObject([{ port: 8_000 }]);
    expect(policy.spec?.egress?.[0]?.ports).toMatchObject([
      { port: 4_100 },
      { port: 4_101 },
      { port: 4_102 },
    ]);
    const pod = await ask(({ core }) => core.readNamespacedPod(inNamespace(podOf(request))));
    const instant = ({ creationTimestamp }: { creationTimestamp?: Date } = {}): number =>
      Number(creationTimestamp ?? Number.NaN);
    expect(instant(policy.metadata)).toBeLessThanOrEqual(instant(pod.metadata));
  });

  test('reads a workspace by a pod beside the sandbox, and leaves none', async () => {
    const request = await up();
    let text = '';
    for await (const chunk of harness.runtime.exportWorkspace(request.sandboxId))
      text += String(Buffer.from(chunk));
    expect(text).toMatch(new RegExp(`^workspace of ${podOf(request)}-r[0-9a-f]{6}$`));
    expect([await pods(), await secrets()]).toEqual([[podOf(request)], 0]);
  });

  test('has last words for a pod that its node evicted, and is stopped, to go on, where somebody removed its pod', async () => {
    const evicted = await up();
    await harness.evict(podOf(evicted), 'The node was low on resource: memory.');
    expect(await settled(harness.runtime, evicted.sandboxId, 'crashed')).toMatchObject({
      kind: 'crashed',
      reason: expect.stringContaining('Evicted: The node was low on resource: memory.'),
    });
    const removed = await up();
    await ask(({ core }) =>
      core.deleteNamespacedPod({ ...inNamespace(podOf(removed)), gracePeriodSeconds: 0 }),
    );
    expect(await settled(harness.runtime, removed.sandboxId, 'stopped')).toEqual({
      ...{ kind: 'stopped', generation: 1, isEvicted: true },
    });
    expect(await volume(removed)).not.toBeNull();
    await harness.runtime.stop(removed);
    expect(await harness.runtime.inspect(removed.sandboxId)).toEqual({ kind: 'stopped', generation: 1 });
    await up({ sandboxId: removed.sandboxId, generation: 2 });
    expect(await harness.runtime.inspect(removed.sandboxId)).toMatchObject({ kind: 'up', generation: 2 });
  });

  test('gives a pod that is to go the time of a stop, whatever its form says', async () => {
    const { namespace } = harness.cluster;
    const { spec, metadata } = plainPod('unowned');
    // On a node that is not there nothing is confirmed, so it can be looked at.
    const slow = { nodeName: 'nowhere', terminationGracePeriodSeconds: 3_600 };
    const body = { metadata: metadata ?? {}, spec: { ...spec, containers: spec?.containers ?? [], ...slow } };
    await ask(({ core }) => core.createNamespacedPod({ namespace, body }));
    const removing = harness.runtime.removeLeftovers?.();
    const poll = () => ask(({ core }) => core.readNamespacedPod(inNamespace('unowned')));
    await expect.poll(async () => (await poll()).metadata?.deletionTimestamp).toBeInstanceOf(Date);
    expect((await poll()).metadata?.deletionGracePeriodSeconds).toBe(STOP_GRACE_S);
    await ask(({ core }) => core.deleteNamespacedPod({ ...inNamespace('unowned'), gracePeriodSeconds: 0 }));
    expect(await removing).toEqual(['pod unowned']);
  });

  test('removes what no sandbox owns, and nothing else', async () => {
    const request = await up({ generation: 2 });
    const { namespace } = harness.cluster;
    const older = labelsOf('test', { sandboxId: request.sandboxId, generation: 1, role: 'agent' });
    const nobody = labelsOf('test', { sandboxId: newId(), generation: 1, role: 'agent' });
    const foreign = { ...nobody, 'dev.parley/installation': 'other' };
    await ask(async ({ core }) => {
      await core.createNamespacedPod({ namespace, body: plainPod('older', older) });
      await core.createNamespacedPod({ namespace, body: plainPod('nobody', nobody) });
      await core.createNamespacedPod({ namespace, body: plainPod('foreign', foreign) });
      await core.createNamespacedSecret({
        namespace,
        body: { metadata: { name: 'unowned', labels: older } },
      });
    });
    const removed = await harness.runtime.removeLeftovers?.();
    expect([...(removed ?? [])].sort()).toEqual(['pod nobody', 'pod older', 'secret unowned']);
    expect([...(await pods())].sort()).toEqual(['foreign', podOf(request)].sort());
    expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('up');
  });
}

/** A pod that the level `restricted` lets in. */
function plainPod(name: string, given: Record<string, string> = {}): V1Pod {
  const labels = labelsOf('test', { sandboxId: newId(), generation: 1, role: 'agent' });
  return {
    metadata: { name, labels: { ...labels, ...given } },
    spec: {
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: 10_001,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [
        {
          name: 'main',
          image: 'registry.test/plain@sha256:0000',
          securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
        },
      ],
    },
  };
}
