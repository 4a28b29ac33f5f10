/**
 * The contract of a sandbox runtime, kept by the Kubernetes runtime over a stand-in cluster whose pods are processes.
 */
import { describeRuntimeContract } from '../../contract/runtime-contract.ts';
import { describeWith } from '../../helpers/requires.ts';
import { createKubernetesHarness } from './kubernetes-harness.ts';

describeWith('bwrap', 'Kubernetes runtime', () => {
  describeRuntimeContract(() => createKubernetesHarness());
});
