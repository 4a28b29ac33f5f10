/**
 * The context of an activity that is never interrupted.
 * Owns nothing else.
 */
import type { ActivityContext } from '../../activities/activity.ts';

export const NO_CONTEXT: ActivityContext = { signal: new AbortController().signal, attempt: 0 };
