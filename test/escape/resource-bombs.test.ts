/**
 * Namespace sandboxes of the process runtime that take all they can.
 */
import { createProcessHarness } from '../contract/process-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { BOUNDS, DISK_POLL_MS, FILES_MAX, describeBombs } from './bomb-suite.ts';

describeWith('bwrap', 'what uses up everything in a namespace sandbox', () => {
  describeBombs(() =>
    createProcessHarness('namespaces', undefined, {
      limits: BOUNDS,
      filesMax: FILES_MAX,
      diskLookMs: DISK_POLL_MS,
    }),
  );
});
