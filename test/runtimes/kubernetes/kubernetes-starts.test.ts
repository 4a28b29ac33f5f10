/**
 * What only a cluster has at a start: two processes at once, answers that are lost, quotas, nodes, images, rights, and
 * names that foreign objects have.
 */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { podName, volumeName } from '../../../runtimes/kubernetes/names.ts';
import type { Clock } from '../../../ports/clock.ts';
import { realClock } from '../../contract/real-clock.ts';
import { newRequest, settled } from '../../contract/runtime-suite.ts';
import type { ApiObject } from './fake-api/api-object.ts';
import { IMAGE, createScriptedHarness } from './kubernetes-harness.ts';
import type { ScriptedHarness } from './kubernetes-harness.ts';

/** Beyond every deadline. */
const FAR_MS = 3_600_000;

describe('a start in a cluster', () => {
  let harness: ScriptedHarness;
  const time = { aheadMs: 0 };
  beforeEach(async () => {
    time.aheadMs = 0;
    const now = (): number => Date.now() + time.aheadMs;
    const clock: Clock = {
      now,
      steady: now,
      setTimer: (at, fire) => realClock.setTimer(at - time.aheadMs, fire),
    };
    harness = await createScriptedHarness({ clock });
  });
  afterEach(() => harness.close());

  const pods = (): readonly ApiObject[] => harness.api.store.all('pods');
  const unplaced = (): Promise<void> =>
    expect.poll(() => pods()[0]?.status?.conditions?.length, { timeout: 90_000 }).toBe(1);
  const podOf = (request: ReturnType<typeof newRequest>): string =>
    podName('test', request.sandboxId, request.generation);

  it('makes one pod when two processes ask at once, and both get the same address', async () => {
    const request = newRequest();
    const addresses = await Promise.all([harness.runtime.start(request), harness.reopen().start(request)]);
    expect(addresses[0]).toEqual(addresses[1]);
    expect(harness.runner.ran).toEqual([podOf(request)]);
  });

  it('lets the later generation win when two processes ask for two at once', async () => {
    const older = newRequest();
    const newer = newRequest({ sandboxId: older.sandboxId, generation: 2 });
    const [first, second] = await Promise.allSettled([
      harness.runtime.start(older),
      harness.reopen().start(newer),
    ]);
    expect(second.status).toBe('fulfilled');
    if (first.status === 'rejected') expect(first.reason).toMatchObject({ code: 'stale_generation' });
    expect(pods().map(({ metadata }) => metadata.name)).toEqual([podOf(newer)]);
    expect(await harness.runtime.inspect(older.sandboxId)).toMatchObject({ kind: 'up', generation: 2 });
  });

  it('tells a start that waits in another process that a newer order was given', async () => {
    harness.runner.health = 503;
    const older = newRequest();
    const waiting = harness.runtime.start(older);
    const refused = expect(waiting).rejects.toMatchObject({ code: 'stale_generation' });
    await settled(harness.runtime, older.sandboxId, 'up');
    await harness.reopen().destroy(older.sandboxId);
    await refused;
  });

  it('refuses an older generation than another process has started', async () => {
    const newer = newRequest({ generation: 2 });
    await harness.reopen().start(newer);
    const older = newRequest({ sandboxId: newer.sandboxId, generation: 1 });
    await expect(harness.runtime.start(older)).rejects.toMatchObject({ code: 'stale_generation' });
    await expect(harness.runtime.stop(older)).rejects.toMatchObject({ code: 'stale_generation' });
    expect(await harness.runtime.inspect(newer.sandboxId)).toMatchObject({ kind: 'up', generation: 2 });
  });

  it.each([
    ['volume', /^POST .*persistentvolumeclaims/],
    ['secret', /^POST .*secrets/],
    ['pod', /^POST .*pods/],
  ])('goes on where it was when the answer about its %s was lost', async (_, of) => {
    harness.api.faults.add({ of, what: 'reset', times: 1, isDone: true });
    const request = newRequest();
    await expect(harness.runtime.start(request)).rejects.toMatchObject({ code: 'runtime_unreachable' });
    const address = await harness.runtime.start(request);
    expect(harness.runner.ran).toEqual([podOf(request)]);
    expect(await harness.runtime.inspect(request.sandboxId)).toMatchObject({ kind: 'up', address });
  });

  it.each(['persistentvolumeclaims', 'pods', 'secrets'] as const)(
    'never touches what somebody else has under its name: %s',
    async (resource) => {
      const request = newRequest();
      const name =
        resource === 'persistentvolumeclaims' ? volumeName('test', request.sandboxId) : podOf(request);
      const labels = { 'dev.parley/installation': 'other', 'dev.parley/sandbox': 'f'.repeat(32) };
      const foreign = harness.api.store.create(resource, harness.api.namespace, {
        metadata: { name, labels },
      });
      const failing = harness.runtime.start(request);
      await expect(failing).rejects.toMatchObject({
        code: 'runtime_failed',
        message: expect.stringContaining('belongs to somebody else'),
        remedy: expect.stringContaining('runtime.kubernetes.installation'),
      });
      await harness.runtime.destroy(request.sandboxId).catch(() => null);
      await harness.runtime.removeLeftovers?.();
      expect(harness.api.store.get(resource, name).metadata.uid).toBe(foreign.metadata.uid);
      expect(harness.api.store.get(resource, name).metadata.deletionTimestamp).toBeUndefined();
    },
  );

  it.each(['pods', 'persistentvolumeclaims', 'secrets'] as const)(
    'says that a quota is used up: %s',
    async (resource) => {
      harness.api.routes.quota = { [resource]: 0 };
      await expect(harness.runtime.start(newRequest())).rejects.toMatchObject({
        code: 'runtime_failed',
        message: expect.stringContaining('exceeded quota'),
        details: { refusal: 'quota_exceeded' },
        remedy: expect.stringContaining('raise the quota'),
      });
    },
  );

  it('says which right is missing', async () => {
    harness.api.routes.forbidden.add('create pods');
    await expect(harness.runtime.start(newRequest())).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('cannot create resource "pods"'),
      details: { refusal: 'forbidden' },
    });
  });

  it('says at once that an image does not come', async () => {
    harness.kubelet.images = new Set();
    const request = newRequest();
    await expect(harness.runtime.start(request)).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining(`image "${IMAGE}": ImagePullBackOff`),
    });
    expect(await harness.runtime.inspect(request.sandboxId)).toMatchObject({
      kind: 'crashed',
      reason: expect.stringContaining('ImagePullBackOff'),
    });
  });

  it('waits for a node until the deadline, and remembers why there was none', async () => {
    harness.kubelet.unschedulable = '0/3 nodes are available: 3 Insufficient memory.';
    const request = newRequest();
    const failing = expect(harness.runtime.start(request)).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('no node takes it: 0/3 nodes are available'),
    });
    await unplaced();
    // Nothing can be said of it yet, and it has not crashed.
    expect((await harness.reopen().inspect(request.sandboxId)).kind).toBe('unknown');
    time.aheadMs = FAR_MS;
    await failing;
    expect(await harness.runtime.inspect(request.sandboxId)).toMatchObject({
      kind: 'crashed',
      reason: expect.stringContaining('Insufficient memory'),
    });
    expect(pods()).toEqual([]);
    harness.kubelet.unschedulable = null;
    await harness.runtime.start({ ...request, deadline: request.deadline + 2 * FAR_MS });
    expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('up');
  });

  it('closes the network before the first pod, and leaves a policy that is there as it is', async () => {
    await harness.runtime.start(newRequest());
    const [policy] = harness.api.store.all('networkpolicies');
    expect(policy?.metadata.name).toBe('test-sandboxes');
    expect(policy?.spec).toMatchObject({
      podSelector: { matchLabels: { 'dev.parley/installation': 'test' } },
      policyTypes: ['Ingress', 'Egress'],
      ingress: [{ from: [{ podSelector: {} }], ports: [{ port: 8_000 }] }],
      egress: [{ ports: [{ port: 4_100 }, { port: 4_101 }, { port: 4_102 }] }],
    });
    const order = harness.api.calls.filter((call) => /^POST .*(policies|pods)/.test(call));
    expect(order[0]).toContain('networkpolicies');
    await harness.reopen().start(newRequest());
    expect(harness.api.store.all('networkpolicies')).toEqual([policy]);
  });

  it('starts nothing in an open network that it may not close', async () => {
    harness.api.routes.forbidden.add('create networkpolicies');
    await expect(harness.runtime.start(newRequest())).rejects.toMatchObject({
      code: 'runtime_failed',
      message: expect.stringContaining('it has no network policy "test-sandboxes"'),
    });
    expect(pods()).toEqual([]);
  });
});
