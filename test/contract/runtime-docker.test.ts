/**
 * The contract of a sandbox runtime, kept by the Docker runtime over a real daemon.
 */
import { describe } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { createDockerHarness } from './docker-harness.ts';
import { describeRuntimeFacts } from './runtime-facts.ts';
import { describeRuntimePauses } from './runtime-pauses.ts';
import { describeRuntime } from './runtime-suite.ts';

describeWith('dockerd', 'Docker runtime', () => {
  describeRuntime(() => createDockerHarness());
  describeRuntimePauses(() => createDockerHarness());
  describe('from inside', () => describeRuntimeFacts(() => createDockerHarness()));
});
