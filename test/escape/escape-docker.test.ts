/**
 * Attempts to get out of containers of the Docker runtime, and containers that take all they can: the same attempts and
 * the same bounds as for the process runtime.
 */
import { describe } from 'vitest';
import { createDockerHarness } from '../contract/docker-harness.ts';
import { describeWith } from '../helpers/requires.ts';
import { BOUNDS, DISK_LOOK_MS, describeBombs } from './bomb-suite.ts';
import { describeEscapes } from './escape-suite.ts';

describeWith('dockerd', 'in a container', () => {
  describe('escapes', () => {
    describeEscapes({ create: () => createDockerHarness(), isolated: true });
  });
  describe('what uses up everything', () => {
    describeBombs(() => createDockerHarness({ limits: BOUNDS, diskLookMs: DISK_LOOK_MS }));
  });
});
