/**
 * The contract of a sandbox runtime, kept by the process runtime with and without namespaces.
 */
import { describe } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { createProcessHarness } from './process-harness.ts';
import { describeBesideItsLife, describeRuntimeContract } from './runtime-contract.ts';

describeWith('bwrap', 'process runtime in namespaces', () => {
  describeRuntimeContract(() => createProcessHarness('namespaces'));
});

describe('process runtime without isolation', () => {
  describeRuntimeContract(() => createProcessHarness('none'));
});

describeWith('bwrap', 'process runtime in namespaces, without control groups', () => {
  describeBesideItsLife(() => createProcessHarness('namespaces', undefined, { controlGroups: 'none' }));
});
