/**
 * Attempts to get out of sandboxes of the process runtime: in namespaces all fail, without they succeed.
 */
import { describe } from 'vitest';
import { createProcessHarness } from '../contract/process-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { describeEscapes } from './escape-suite.ts';

describeWith('bwrap', 'escapes from a namespace sandbox', () => {
  describeEscapes({ create: () => createProcessHarness('namespaces'), isolated: true });
});

describe('escapes from a plain process', () => {
  describeEscapes({ create: () => createProcessHarness('none'), isolated: false });
});
