/**
 * A lifecycle policy by chance, tight enough that its limits are met.
 * Owns the ranges; the length of a session is no part of a policy (D10).
 */
import { GROUPING_STRATEGIES } from '../../core/status.ts';
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../core/time.ts';
import type { Policy } from '../models/model-options.ts';
import type { RandomStream } from '../random.ts';
import { between, wholeMagnitude, pick } from './choose.ts';

/** How often a rule is switched off altogether. */
const OFF_SHARE = 0.08;

export function randomPolicy(stream: RandomStream): Policy {
  const idleTimeMs = stream.happens(OFF_SHARE) ? null : wholeMagnitude(stream, MINUTE_MS, 2 * HOUR_MS);
  const deletionTimeMs = stream.happens(OFF_SHARE) ? null : wholeMagnitude(stream, HOUR_MS, 10 * DAY_MS);
  const installationMax = between(stream, 1, 10);
  return {
    limits: { idleTimeMs, deletionTimeMs },
    capacity: {
      installationMax,
      userMax: stream.happens(0.5) ? installationMax : between(stream, 1, 10),
      conversationsPerSandboxMax: pick(stream, [1, 2, 3, 20]),
    },
    onFull: pick(stream, ['refuse', 'queue', 'pause_longest_idle']),
    grouping: pick(stream, GROUPING_STRATEGIES),
  };
}
