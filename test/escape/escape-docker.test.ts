/**
 * Attempts to get out of containers of the Docker runtime, and containers that take all they can: the same attempts and
 * the same bounds as for the process runtime.
 */
import { describe } from 'vitest';
import { createDockerHarness } from '../contract/docker-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { BOUNDS, DISK_POLL_MS, FILES_MAX, describeBombs } from './bomb-suite.ts';
import { describeEscapes } from './escape-suite.ts';
import { SEEN, describeBeside } from './server-suite.ts';

describeWith('dockerd', 'in a container', () => {
  describe('escapes', () => {
    // One list of processes for all of a container, as docs/security.md says.
    describeEscapes({ create: () => createDockerHarness(), isolated: true, exceptions: SEEN });
  });
  describe('tools beside their Agent Server', () => {
    describeBeside(() => createDockerHarness({ splitsTools: false }));
  });
  describe('what uses up everything', () => {
    describeBombs(() =>
      createDockerHarness({ limits: BOUNDS, filesMax: FILES_MAX, diskLookMs: DISK_POLL_MS }),
    );
  });
});
