/**
 * Activities that take a while: each try and each look waits before it does anything.
 * Owns the waiting; what is done stays what it was.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Activities } from '../../activities/activity.ts';

interface AnyActivity {
  readonly run: (...args: readonly unknown[]) => Promise<unknown>;
  readonly poll?: (...args: readonly unknown[]) => Promise<unknown>;
}

/** `before` is awaited at the beginning of every try and every look. */
export function paced(activities: Activities, before: () => Promise<unknown>): Activities {
  const after =
    (carryOut: AnyActivity['run']): AnyActivity['run'] =>
    async (...args) => {
      await before();
      return await carryOut(...args);
    };
  const entries = Object.entries(activities as unknown as Record<string, AnyActivity>).map(
    ([type, activity]) => {
      const { run, poll } = activity;
      return [type, { ...activity, run: after(run), ...(poll === undefined ? {} : { poll: after(poll) }) }];
    },
  );
  return Object.fromEntries(entries) as Activities;
}

/** Every activity takes so long, brief ones too. */
export function taking(activities: Activities, ms: number): Activities {
  return ms === 0 ? activities : paced(activities, () => pause(ms));
}
