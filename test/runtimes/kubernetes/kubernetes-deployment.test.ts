/**
 * A deployment whose sandboxes are pods: its configuration, the options of the runtime, and what the doctor says.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadDeployment } from '../../../host/config/load-deployment.ts';
import type { LoadedDeployment } from '../../../host/config/load-deployment.ts';
import { RIGHTS, checkKubernetes } from '../../../cli/doctor/doctor-kubernetes.ts';
import { kubernetesOptions } from '../../../host/sandboxes/runtime-of.ts';
import { realClock } from '../../contract/real-clock.ts';
import { newRequest } from '../../contract/runtime-suite.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { createScriptedHarness } from './kubernetes-harness.ts';
import type { ScriptedHarness } from './kubernetes-harness.ts';

const IMAGE = `registry.test/sandbox@sha256:${'a'.repeat(64)}`;

function load(text: string, env: Readonly<Record<string, string>> = {}): Promise<LoadedDeployment> {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'parley.yaml'), text);
  return loadDeployment({ path: null, cwd, env });
}

describe('a deployment on Kubernetes', () => {
  it('needs an image, by digest', async () => {
    const none = await load('runtime: { kind: kubernetes }\n');
    expect(none.config).toBeNull();
    expect(none.problems.map(({ message }) => message)).toEqual([
      'Cannot make pods: runtime.kubernetes.image names no image',
    ]);
    const byTag = await load('runtime: { kind: kubernetes, kubernetes: { image: "sandbox:latest" } }\n');
    expect(byTag.config).toBeNull();
    expect((await load('runtime: { kind: process }\n')).problems).toEqual([]);
  });

  it('tells the runtime what it read', async () => {
    const text = [
      'runtime:',
      '  kind: kubernetes',
      `  kubernetes: { image: "${IMAGE}", service: routes.parley.svc, storage_class: fast, kubeconfig: k.yaml }`,
      '  limits: { memory_mb: 1024 }',
      'agent: { kind: openhands }',
    ].join('\n');
    const { config, problems } = await load(`${text}\n`, { PARLEY_KUBERNETES_CPU_REQUEST_PERCENT: '0' });
    expect(problems).toEqual([]);
    if (config === null) throw new Error('no configuration');
    const hostSockets = { proxy: '/p', webhook: '/w', git: '/g' };
    const common = { hostSockets, egressSocket: '/e', limits: config.sandboxLimits, clock: realClock };
    const options = kubernetesOptions({ ...common, warn: () => undefined }, config);
    expect(options).toMatchObject({
      kubeconfig: path.join(config.baseDir, 'k.yaml'),
      context: null,
      namespace: 'parley-sandboxes',
      installation: 'parley',
      image: IMAGE,
      imagePullSecrets: [],
      storageClass: 'fast',
      runtimeClass: null,
      podSecurity: 'baseline',
      splitsTools: false,
      programs: {
        agentServer: '/opt/parley/agent-openhands.cjs',
        sandboxInit: '/opt/parley/sandbox-init.cjs',
      },
      routes: {
        proxy: 'routes.parley.svc:4100',
        webhook: 'routes.parley.svc:4101',
        git: 'routes.parley.svc:4102',
        egress: 'routes.parley.svc:4103',
      },
      gates: { listen: '0.0.0.0', hostSockets, egressSocket: '/e' },
      requests: { memoryBytes: 512 * 1_024 ** 2, cpus: null },
      limits: { memoryBytes: 1_024 ** 3 },
    });
  });
});

describe('parley doctor about Kubernetes', () => {
  let harness: ScriptedHarness;
  beforeEach(async () => {
    harness = await createScriptedHarness();
  });
  afterEach(() => harness.close());

  const check = async (given: string = harness.api.kubeconfig): ReturnType<typeof checkKubernetes> => {
    const kubernetes = `{ image: "${IMAGE}", kubeconfig: "${given}", namespace: parley-test, installation: test }`;
    const { config } = await load(`runtime: { kind: kubernetes, kubernetes: ${kubernetes} }\n`);
    if (config === null) throw new Error('no configuration');
    return await checkKubernetes(config);
  };

  it('asks no cluster that was not chosen', async () => {
    const { config } = await load(`runtime: { kubernetes: { kubeconfig: "${harness.api.kubeconfig}" } }\n`);
    if (config === null) throw new Error('no configuration');
    expect(await checkKubernetes(config)).toMatchObject({ status: 'ok', detail: 'not chosen' });
    expect(harness.api.calls).toEqual([]);
  });

  it('says that it works, once its network is closed', async () => {
    expect(await check()).toMatchObject({
      status: 'warning',
      remedy: expect.stringContaining('install the chart'),
    });
    await harness.runtime.start(newRequest());
    expect(await check()).toEqual({
      check: 'kubernetes',
      status: 'ok',
      detail: 'Kubernetes v1.34.0, namespace "parley-test"; tools are another user than their Agent Server',
      remedy: null,
    });
  });

  it('names the rights that are missing', async () => {
    harness.api.routes.forbidden.add('delete pods');
    harness.api.routes.forbidden.add('get pods/log');
    expect(await check()).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('not allowed: delete pods, get pods/log'),
      remedy: expect.stringContaining('role'),
    });
  });

  it('says what is wrong with a cluster that is away, and with a kubeconfig', async () => {
    harness.api.faults.isAway = true;
    expect(await check()).toMatchObject({ status: 'failed', remedy: expect.stringContaining('API server') });
    expect(await check('/nowhere')).toMatchObject({
      status: 'failed',
      detail: expect.stringContaining('Cannot read the kubeconfig'),
    });
  });

  it('asks for every right that the runtime uses, and for no other', async () => {
    const used = new Set<string>();
    const request = newRequest();
    await harness.runtime.start(request);
    for await (const _ of harness.runtime.exportWorkspace(request.sandboxId));
    harness.kubelet.end(`test-${request.sandboxId}-1`, { exitCode: 1, reason: 'Error' });
    await harness.runtime.inspect(request.sandboxId);
    await harness.runtime.stop(request);
    await harness.runtime.list();
    await harness.runtime.removeLeftovers?.();
    await harness.runtime.destroy(request.sandboxId);
    for (const call of harness.api.calls) used.add(rightOf(call));
    const asked = Object.entries(RIGHTS).flatMap(([what, verbs]) => verbs.map((verb) => `${verb} ${what}`));
    // Where the chart has brought the policy, none is made.
    used.delete('create networkpolicies');
    expect([...used].sort()).toEqual(asked.sort());
  });
});

/** What a call needs, in the words of a role. */
function rightOf(call: string): string {
  const [method = '', address = ''] = call.split(' ');
  const url = new URL(address, 'http://fake');
  const [, , resource = '', name, sub] =
    /namespaces\/([^/]+)\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?$/.exec(url.pathname) ?? [];
  const reading = url.searchParams.get('watch') === 'true' ? 'watch' : name === undefined ? 'list' : 'get';
  const verb = { POST: 'create', PATCH: 'patch', DELETE: 'delete' }[method] ?? reading;
  return `${verb} ${sub === undefined ? resource : `${resource}/${sub}`}`;
}
