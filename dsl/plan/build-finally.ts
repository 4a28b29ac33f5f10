/**
 * What is done when a run has ended, as the plan has it.
 * Owns the defaults.
 */
import type { PlanNotify } from '../../core/plan/plan.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { durationMs } from './resolve-item.ts';
import type { JobDocument } from '../schema/job-schema.ts';

/** Long enough for a receiver that is being restarted. */
const TIMEOUT_DEFAULT_MS = 2 * MINUTE_MS;
const TEXT_DEFAULT = '{job} {run}: {status}, {succeeded} of {total} succeeded, {usd} USD';

export function buildFinally(steps: NonNullable<JobDocument['finally']>): readonly PlanNotify[] {
  return steps.map(({ notify: { to, key, text, when, timeout } }) => ({
    kind: 'notify',
    to: to.from === 'url' ? { url: to.url } : { secret: to.secret },
    keySecret: key ?? null,
    text: text ?? TEXT_DEFAULT,
    when: when ?? 'always',
    timeoutMs: durationMs(timeout) ?? TIMEOUT_DEFAULT_MS,
  }));
}
