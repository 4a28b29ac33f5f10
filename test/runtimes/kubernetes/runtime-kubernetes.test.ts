/**
 * The contract of a sandbox runtime, kept by the Kubernetes runtime over a stand-in cluster whose pods are processes.
 */
import { describe } from 'vitest';
import { describeRuntimeFacts } from '../../contract/runtime-facts.ts';
import { describeRuntimePauses } from '../../contract/runtime-pauses.ts';
import { describeRuntime } from '../../contract/runtime-suite.ts';
import { describeWith } from '../../helpers/requires.ts';
import { createKubernetesHarness } from './kubernetes-harness.ts';

describeWith('bwrap', 'Kubernetes runtime', () => {
  describeRuntime(() => createKubernetesHarness());
  describeRuntimePauses(() => createKubernetesHarness());
  describe('from inside', () => describeRuntimeFacts(() => createKubernetesHarness()));
});
