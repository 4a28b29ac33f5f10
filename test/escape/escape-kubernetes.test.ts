/**
 * Attempts to get out of pods of the stand-in cluster, which gives what their manifest asks for and nothing else; a real
 * node holds back the same by means of its own.
 */
import { describe, expect, it } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { STAND_IN_LEVEL, createKubernetesHarness } from '../runtimes/kubernetes/kubernetes-harness.ts';
import { describeEscapes } from './escape-suite.ts';
import { SEEN, describeBeside } from './server-suite.ts';

describeWith('bwrap', 'in a pod', () => {
  if (STAND_IN_LEVEL === 'baseline')
    describe('escapes', () => {
      describeEscapes({
        create: () => createKubernetesHarness(),
        isolated: true,
        // One list of processes for all of a pod, and no mask of its own, as docs/security.md says.
        exceptions: [...SEEN, 'writes to a file of the kernel'],
      });
    });
  if (STAND_IN_LEVEL === 'baseline')
    it('says that its tools are apart', async () => {
      const harness = await createKubernetesHarness();
      expect(harness.runtime.capabilities.tools).toBe('apart');
      await harness.close();
    });
  describe('tools beside their Agent Server', () =>
    describeBeside(() => createKubernetesHarness({ podSecurity: 'restricted' })));
});
