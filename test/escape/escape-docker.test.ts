/**
 * Attempts to get out of containers of the Docker runtime, and containers that take all they can: the same attempts and
 * the same bounds as for the process runtime.
 */
import { describe } from 'vitest';
import { createDockerHarness } from '../contract/docker-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { BOUNDS, DISK_LOOK_MS, FILES_MAX, describeBombs } from './bomb-suite.ts';
import { describeEscapes } from './escape-suite.ts';
import { SERVER_PROBES } from './server-probes.ts';

describeWith('dockerd', 'in a container', () => {
  describe('escapes', () => {
    // The tools of a container are beside their Agent Server, as docs/security.md tells.
    const exceptions = SERVER_PROBES.map(({ name }) => name);
    describeEscapes({ create: () => createDockerHarness(), isolated: true, exceptions });
  });
  describe('what uses up everything', () => {
    describeBombs(() =>
      createDockerHarness({ limits: BOUNDS, filesMax: FILES_MAX, diskLookMs: DISK_LOOK_MS }),
    );
  });
});
