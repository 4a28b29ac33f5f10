/**
 * The contract of a sandbox runtime, kept by the process runtime with and without namespaces.
 */
import { describe } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { createProcessHarness } from './process-harness.ts';
import { describeRuntime } from './runtime-suite.ts';

describeWith('bwrap', 'process runtime in namespaces', () => {
  describeRuntime(() => createProcessHarness('namespaces'));
});

describe('process runtime without isolation', () => {
  describeRuntime(() => createProcessHarness('none'));
});
