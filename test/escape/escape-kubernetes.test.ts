/**
 * Attempts of tools on the Agent Server of their pod. What leads out of a pod is not tried: a stand-in cluster would show
 * what the stand-in holds back; who may do what to whom in a pod is the kernel's to say, and that is a real one.
 */
import { describe } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { STAND_IN_LEVEL, createKubernetesHarness } from '../runtimes/kubernetes/kubernetes-harness.ts';
import { describeApart, describeBeside } from './server-suite.ts';

describeWith('bwrap', 'in a pod', () => {
  if (STAND_IN_LEVEL === 'baseline')
    describe('tools that are another user', () => describeApart(() => createKubernetesHarness()));
  describe('tools beside their Agent Server', () =>
    describeBeside(() => createKubernetesHarness({ podSecurity: 'restricted' })));
});
