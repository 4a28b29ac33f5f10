/**
 * The contract of a sandbox runtime, kept by the Docker runtime over a real daemon.
 */
import { describeWith } from '../helpers/requires.ts';
import { createDockerHarness } from './docker-harness.ts';
import { describeRuntimeContract } from './runtime-contract.ts';

describeWith('dockerd', 'Docker runtime', () => {
  describeRuntimeContract(() => createDockerHarness());
});
