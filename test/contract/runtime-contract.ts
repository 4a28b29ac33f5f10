/**
 * The whole contract of a sandbox runtime.
 * Owns that each part stands apart: what one part makes before each of its cases, no case of another has to wait for.
 */
import { describe } from 'vitest';
import { describeRuntimeFacts } from './runtime-facts.ts';
import { describeRuntimePauses } from './runtime-pauses.ts';
import { describeRuntime, type RuntimeHarness } from './runtime-suite.ts';

type CreateHarness = () => Promise<RuntimeHarness>;

export function describeRuntimeContract(createHarness: CreateHarness): void {
  describe('over its life', () => describeRuntime(createHarness));
  describeBesideItsLife(createHarness);
}

/** What may differ where a runtime does the same with other means. */
export function describeBesideItsLife(createHarness: CreateHarness): void {
  describe('with pauses', () => describeRuntimePauses(createHarness));
  describe('from inside', () => describeRuntimeFacts(createHarness));
}
