/**
 * An API server that is away, slow, full or forgetful: nothing is taken for gone that was not asked for.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { kubernetesCluster } from '../../../runtimes/kubernetes/cluster.ts';
import { labelsOf, podName, volumeLabels, volumeName } from '../../../runtimes/kubernetes/names.ts';
import { createPodWatch } from '../../../runtimes/kubernetes/pod-watch.ts';
import type { PodEvents } from '../../../runtimes/kubernetes/pod-watch.ts';
import { createKubernetesRuntime } from '../../../runtimes/kubernetes/kubernetes-runtime.ts';
import { realClock } from '../../contract/real-clock.ts';
import { newId, newRequest } from '../../contract/runtime-suite.ts';
import { createScriptedHarness } from './kubernetes-harness.ts';
import type { ScriptedHarness } from './kubernetes-harness.ts';

/** Far beyond what an event takes: a wait that ends here was never woken. */
const NEVER_MS = 30_000;

let harness: ScriptedHarness;
beforeEach(async () => {
  harness = await createScriptedHarness();
});
afterEach(() => harness.close());

describe('an API server in trouble', () => {
  it('makes everything unknown while it is away, and nothing is lost', async () => {
    const request = newRequest();
    const address = await harness.runtime.start(request);
    harness.api.faults.isAway = true;
    expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('unknown');
    await expect(harness.runtime.list()).rejects.toMatchObject({
      code: 'runtime_unreachable',
      details: { refusal: 'away' },
    });
    await expect(harness.runtime.stop(request)).rejects.toMatchObject({ code: 'runtime_unreachable' });
    harness.api.faults.isAway = false;
    expect(await harness.runtime.inspect(request.sandboxId)).toMatchObject({ kind: 'up', address });
  });

  it.each([
    [500, 'server_error'],
    [503, 'server_error'],
    [401, 'unauthorized'],
  ])('is not believed about a sandbox when it answers %s', async (what, refusal) => {
    const request = newRequest();
    await harness.runtime.start(request);
    harness.api.faults.add({ of: /persistentvolumeclaims/, what, times: 2 });
    expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('unknown');
    await expect(harness.runtime.list()).rejects.toMatchObject({
      code: 'runtime_unreachable',
      details: { refusal },
    });
    expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('up');
  });

  it('ends a call that is never answered', async () => {
    const runtime = createKubernetesRuntime({ ...harness.options, callTimeoutMs: 200 });
    harness.api.faults.add({ of: /persistentvolumeclaims/, what: 'hang', times: 1 });
    expect((await runtime.inspect(newId())).kind).toBe('unknown');
    expect((await runtime.inspect(newId())).kind).toBe('gone');
  });

  it('is asked again when it puts a call off, and is taken for away when it goes on so', async () => {
    harness.api.faults.add({ of: /POST .*pods/, what: 429, times: 2, retryAfterS: 0 });
    const request = newRequest();
    await harness.runtime.start(request);
    expect(harness.api.calls.filter((call) => /^POST .*pods/.test(call))).toHaveLength(3);
    harness.api.faults.add({ of: /persistentvolumeclaims/, what: 429, times: 4, retryAfterS: 0 });
    await expect(harness.runtime.list()).rejects.toMatchObject({ details: { refusal: 'throttled' } });
    harness.api.faults.add({ of: /persistentvolumeclaims/, what: 429, times: 1, retryAfterS: 3_600 });
    await expect(harness.runtime.list()).rejects.toMatchObject({ code: 'runtime_unreachable' });
  });

  it('lets another change of a volume come between, and reads it again', async () => {
    harness.api.faults.add({ of: /^PATCH .*persistentvolumeclaims/, what: 409, times: 2 });
    const request = newRequest();
    await harness.runtime.start(request);
    await harness.runtime.stop(request);
    expect(await harness.runtime.inspect(request.sandboxId)).toEqual({ kind: 'stopped', generation: 1 });
  });

  it('lists page by page, and anew when its place was forgotten', async () => {
    const ids = Array.from({ length: 1_100 }, () => newId());
    const annotations = { 'dev.parley/generation': '1', 'dev.parley/desired': 'stopped' };
    for (const id of ids) {
      const metadata = { name: volumeName('test', id), labels: volumeLabels('test', id), annotations };
      harness.api.store.create('persistentvolumeclaims', harness.api.namespace, { metadata });
    }
    harness.api.faults.add({ of: /persistentvolumeclaims.*continue=/, what: 410, times: 1 });
    const listed = await harness.runtime.list();
    expect(new Set(listed.map(({ sandboxId }) => sandboxId))).toEqual(new Set(ids));
    expect(listed).toHaveLength(ids.length);
    expect(harness.api.calls.filter((call) => call.includes('persistentvolumeclaims'))).toHaveLength(5);
  });

  it('does not take a volume without its annotations for gone', async () => {
    const request = newRequest();
    await harness.runtime.start(request);
    harness.api.store.change('persistentvolumeclaims', volumeName('test', request.sandboxId), (claim) => {
      claim.metadata.annotations = {};
    });
    expect((await harness.runtime.inspect(request.sandboxId)).kind).toBe('unknown');
  });
});

describe('the watch over pods', () => {
  const NAME = 'watched';
  let events: PodEvents;
  beforeEach(async () => {
    const cluster = kubernetesCluster({ ...harness.options, clock: realClock });
    events = createPodWatch(cluster, 'test').follow(NAME);
    // The first answer is that everything may have changed.
    await events.next(NEVER_MS);
    await openStreams(1);
  });
  afterEach(() => events.end());

  const openStreams = async (opened: number): Promise<void> => {
    await expect.poll(() => harness.api.watches.opened, { timeout: NEVER_MS }).toBeGreaterThanOrEqual(opened);
    await expect.poll(() => harness.api.watches.count, { timeout: NEVER_MS }).toBe(1);
  };
  const change = (): void => {
    const labels = labelsOf('test', { sandboxId: newId(), generation: 1, role: 'agent' });
    const { store, namespace } = harness.api;
    const name = NAME;
    if (store.find('pods', name) !== null)
      store.change('pods', name, (pod) => (pod.metadata.labels = labels));
    else store.create('pods', namespace, { metadata: { name, labels }, spec: { containers: [] } });
  };
  /** Whether the wait was ended by an event. */
  const isWoken = async (): Promise<boolean> => {
    const late = new AbortController();
    const woken = events.next(NEVER_MS).then(() => true);
    const result = await Promise.race([woken, pause(NEVER_MS / 2, false, { signal: late.signal })]);
    late.abort();
    return result;
  };
  const lists = (): number => harness.api.calls.filter((call) => /^GET .*pods\?.*limit=1/.test(call)).length;

  it('wakes whoever follows a pod that changes, and no other', async () => {
    const labels = labelsOf('test', { sandboxId: newId(), generation: 1, role: 'agent' });
    harness.api.store.create('pods', harness.api.namespace, { metadata: { name: 'other', labels } });
    change();
    expect(await isWoken()).toBe(true);
  });

  it('goes on where it was after a break in the middle of a line', async () => {
    harness.api.watches.cut();
    change();
    expect(await isWoken()).toBe(true);
    expect(lists()).toBe(1);
  });

  it('begins anew when its place in time was forgotten, and whoever follows looks again', async () => {
    change();
    await isWoken();
    const before = harness.api.watches.opened;
    harness.api.store.create('secrets', harness.api.namespace, { metadata: { name: 'later' } });
    harness.api.store.compact();
    harness.api.watches.cut();
    expect(await isWoken()).toBe(true);
    expect(lists()).toBe(2);
    await openStreams(before + 2);
    change();
    expect(await isWoken()).toBe(true);
  });

  it('moves on by bookmarks, so that a quiet watch is not forgotten', async () => {
    harness.api.store.create('secrets', harness.api.namespace, { metadata: { name: 'later' } });
    harness.api.watches.bookmark();
    harness.api.store.compact();
    const before = harness.api.watches.opened;
    harness.api.watches.finish();
    await openStreams(before + 1);
    change();
    expect(await isWoken()).toBe(true);
    expect(lists()).toBe(1);
  });

  it('comes back when the API server was away', async () => {
    harness.api.faults.isAway = true;
    const before = harness.api.calls.length;
    harness.api.watches.cut();
    await expect.poll(() => harness.api.calls.length, { timeout: NEVER_MS }).toBeGreaterThan(before);
    harness.api.faults.isAway = false;
    await openStreams(2);
    change();
    expect(await isWoken()).toBe(true);
  });

  it('is closed when nobody follows any more', async () => {
    events.end();
    await expect.poll(() => harness.api.watches.count, { timeout: NEVER_MS }).toBe(0);
  });
});

describe('a watch that tells nothing', () => {
  it('delays a start and a stop, and loses neither', async () => {
    harness.api.watches.isDeaf = true;
    const request = newRequest();
    await harness.runtime.start(request);
    await harness.runtime.stop(request);
    expect(harness.api.store.find('pods', podName('test', request.sandboxId, 1))).toBeNull();
  });
});
