/**
 * The contract of a sandbox runtime, kept by the process runtime with and without namespaces.
 */
import { describe } from 'vitest';
import { describeWith } from '../helpers/requires.ts';
import { createProcessHarness } from './process-harness.ts';
import { describeRuntimeFacts } from './runtime-facts.ts';
import { describeRuntimePauses } from './runtime-pauses.ts';
import { describeRuntime } from './runtime-suite.ts';

describeWith('bwrap', 'process runtime in namespaces', () => {
  describeRuntime(() => createProcessHarness('namespaces'));
  describeRuntimePauses(() => createProcessHarness('namespaces'));
  describe('from inside', () => describeRuntimeFacts(() => createProcessHarness('namespaces')));
});

describe('process runtime without isolation', () => {
  describeRuntime(() => createProcessHarness('none'));
  describeRuntimePauses(() => createProcessHarness('none'));
  describe('from inside', () => describeRuntimeFacts(() => createProcessHarness('none')));
});

describeWith('bwrap', 'process runtime in namespaces, without control groups', () => {
  const create = (): ReturnType<typeof createProcessHarness> =>
    createProcessHarness('namespaces', undefined, { controlGroups: 'none' });
  describeRuntimePauses(create);
  describe('from inside', () => describeRuntimeFacts(create));
});
