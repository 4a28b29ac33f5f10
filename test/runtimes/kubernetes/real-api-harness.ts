/**
 * The Kubernetes runtime over a real API server and a node whose pods are processes: what the contract suite needs.
 * Owns a namespace, a node and directories of its own for each harness; the cluster is the test's.
 */
import { mkdtempSync, realpathSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { kubernetesCluster } from '../../../runtimes/kubernetes/cluster.ts';
import { createKubernetesRuntime } from '../../../runtimes/kubernetes/kubernetes-runtime.ts';
import { volumeName } from '../../../runtimes/kubernetes/names.ts';
import type { LocalCluster } from '../../../scripts/local-cluster.ts';
import { newId } from '../../contract/runtime-suite.ts';
import type { RuntimeHarness } from '../../contract/runtime-suite.ts';
import { removeDir } from '../../helpers/temp-dir.ts';
import { createBwrapRunner } from './fake-api/bwrap-runner.ts';
import { makeNamespace } from './cluster-harness.ts';
import { podPrograms, runtimeOptions } from './kubernetes-harness.ts';
import { startProcessNode } from './process-node.ts';

export async function createRealApiHarness(local: LocalCluster): Promise<RuntimeHarness> {
  const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'ka-')));
  const programs = await podPrograms();
  const namespace = `test-${newId().slice(0, 12)}`;
  const options = runtimeOptions({ kubeconfig: local.kubeconfig(namespace), namespace });
  const cluster = kubernetesCluster(options);
  await cluster.ask('make a namespace', (api) => makeNamespace(api, namespace));
  const volumes = { dirOf: (uid: string): string => uid };
  const node = await startProcessNode({
    cluster,
    certificate: local.certificate,
    runnerOf(store) {
      const runner = createBwrapRunner({ dir, store, programs });
      volumes.dirOf = runner.volumeDir;
      return runner;
    },
  });
  return {
    runtime: createKubernetesRuntime(options),
    reopen: () => createKubernetesRuntime(options),
    workspaceOf(id) {
      const uid = node.volumeUid(volumeName(options.installation, id));
      return path.join(uid === null ? path.join(dir, 'none') : volumes.dirOf(uid), 'workspace');
    },
    async close() {
      await node.close();
      removeDir(dir);
    },
  };
}
