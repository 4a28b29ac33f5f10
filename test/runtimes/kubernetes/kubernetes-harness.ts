/**
 * The Kubernetes runtime set up for a test, over a stand-in cluster of its own.
 * Owns its directories, the cluster and a real clock; one place for every Kubernetes test.
 */
import { mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createKubernetesRuntime } from '../../../runtimes/kubernetes/kubernetes-runtime.ts';
import { volumeName } from '../../../runtimes/kubernetes/names.ts';
import type { KubernetesRuntimeOptions, PodSecurity } from '../../../runtimes/kubernetes/options.ts';
import { bundleProgram } from '../../contract/process-harness.ts';
import { realClock } from '../../contract/real-clock.ts';
import type { RuntimeHarness } from '../../contract/runtime-suite.ts';
import { removeDir } from '../../helpers/temp-dir.ts';
import { createBwrapRunner } from './fake-api/bwrap-runner.ts';
import { startFakeApi } from './fake-api/fake-api.ts';
import type { FakeApi } from './fake-api/fake-api.ts';
import { startKubelet } from './fake-api/kubelet.ts';
import type { Kubelet, PodRunner } from './fake-api/kubelet.ts';
import { createScriptedRunner } from './fake-api/scripted-runner.ts';
import type { ScriptedRunner } from './fake-api/scripted-runner.ts';

/** A pod that begins as root needs users of its own on this side, which only root can give it. */
export const STAND_IN_LEVEL: PodSecurity = process.getuid?.() === 0 ? 'baseline' : 'restricted';
export const IMAGE = 'registry.test/sandbox@sha256:0000';
const STAND_IN = { name: 'stand-in-agent', source: 'test/contract/stand-in-agent.ts' };

export interface KubernetesHarness extends RuntimeHarness {
  readonly options: KubernetesRuntimeOptions;
  readonly api: FakeApi;
  readonly kubelet: Kubelet;
}

/** Pods are processes in namespaces, with an agent that can be asked from inside. */
export async function createKubernetesHarness(
  given: Partial<KubernetesRuntimeOptions> = {},
  agentSource: { readonly name: string; readonly source: string } = STAND_IN,
): Promise<KubernetesHarness> {
  const dir = newDir();
  const programs = await podPrograms(agentSource);
  const late: { api: FakeApi | null } = { api: null };
  const store = (): FakeApi['store'] => {
    if (late.api === null) throw new Error('no stand-in cluster yet');
    return late.api.store;
  };
  const runner = createBwrapRunner({ dir, store, programs });
  const parts = await clusterOf(dir, runner, given.podSecurity ?? STAND_IN_LEVEL);
  late.api = parts.api;
  return harnessOf({
    ...parts,
    dir,
    given: { splitsTools: true, podSecurity: STAND_IN_LEVEL, ...given },
    workspaceOf: (uid) => path.join(runner.volumeDir(uid), 'workspace'),
  });
}

/** What the image of a pod has, by name. */
export async function podPrograms(agentSource = STAND_IN): Promise<Readonly<Record<string, string>>> {
  return {
    'agent-server.cjs': await bundleProgram(agentSource.name, agentSource.source),
    'sandbox-init.cjs': await bundleProgram('sandbox-init', 'runtimes/process/inside/init.ts'),
    'workspace-reader.cjs': await bundleProgram('workspace-reader', 'runtimes/kubernetes/reader/main.ts'),
  };
}

export interface ScriptedHarness extends KubernetesHarness {
  readonly runner: ScriptedRunner;
}

/** Pods are entries: fast, and for all that is about the cluster and not about what runs in it. */
export async function createScriptedHarness(
  given: Partial<KubernetesRuntimeOptions> = {},
): Promise<ScriptedHarness> {
  const dir = newDir();
  const runner = createScriptedRunner();
  const parts = await clusterOf(dir, runner, given.podSecurity ?? 'restricted');
  return { ...harnessOf({ ...parts, dir, given, workspaceOf: (uid) => uid }), runner };
}

function newDir(): string {
  return realpathSync(mkdtempSync(path.join(os.tmpdir(), 'kr-')));
}

async function clusterOf(
  dir: string,
  runner: PodRunner,
  podSecurity: PodSecurity,
): Promise<{ readonly api: FakeApi; readonly kubelet: Kubelet }> {
  const logOf = (pod: string, lines: number): string =>
    runner
      .log(pod)
      .split('\n')
      .slice(-lines - 1)
      .join('\n');
  const api = await startFakeApi({ dir, logOf, podSecurity });
  return { api, kubelet: startKubelet(api.store, runner) };
}

/** What every test of the runtime says the same. */
export function runtimeOptions(
  given: Partial<KubernetesRuntimeOptions> & Pick<KubernetesRuntimeOptions, 'kubeconfig' | 'namespace'>,
): KubernetesRuntimeOptions {
  return {
    context: null,
    installation: 'test',
    image: IMAGE,
    imagePullSecrets: [],
    storageClass: null,
    runtimeClass: null,
    programs: {
      agentServer: '/opt/parley/agent-server.cjs',
      sandboxInit: '/opt/parley/sandbox-init.cjs',
      workspaceReader: '/opt/parley/workspace-reader.cjs',
    },
    routes: { proxy: '192.0.2.1:4100', webhook: '192.0.2.1:4101', git: '192.0.2.1:4102', egress: null },
    gates: null,
    requests: { memoryBytes: null, cpus: null },
    clock: realClock,
    warn: () => undefined,
    ...given,
  };
}

interface HarnessParts {
  readonly api: FakeApi;
  readonly kubelet: Kubelet;
  readonly dir: string;
  readonly given: Partial<KubernetesRuntimeOptions>;
  readonly workspaceOf: (volumeUid: string) => string;
}

function harnessOf({ api, kubelet, dir, given, workspaceOf }: HarnessParts): KubernetesHarness {
  const options = runtimeOptions({ kubeconfig: api.kubeconfig, namespace: api.namespace, ...given });
  return {
    ...{ options, api, kubelet },
    runtime: createKubernetesRuntime(options),
    reopen: () => createKubernetesRuntime(options),
    workspaceOf(id) {
      const claim = api.store.find('persistentvolumeclaims', volumeName(options.installation, id));
      return claim === null ? path.join(dir, 'none') : workspaceOf(claim.metadata.uid);
    },
    async close() {
      await kubelet.close();
      await api.close();
      removeDir(dir);
    },
  };
}
