/**
 * What people do, by chance: spread over the whole time, and many things at once at a few moments.
 * Owns the mix of actions and their instants; who is asked for may not exist, as with real people.
 */
import { FAILURE_CLASSES, GROUPING_STRATEGIES } from '../../core/status.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { RandomStream } from '../random.ts';
import type { Action } from '../script.ts';
import { between, pick, some } from './choose.ts';
import { randomPlan, type PlanConstraints } from './random-plan.ts';

export interface TimedAction {
  /** Milliseconds from the beginning. */
  readonly atMs: number;
  readonly action: Action;
}

const ACTIONS_MIN = 60;
const ACTIONS_MAX = 320;
const CONVERSATIONS_MAX = 24;
const MOMENTS_MAX = 6;
/** Actions of one moment follow each other within this time, many of them at once. */
const MOMENT_MS = 20 * SECOND_MS;
/** Nothing is begun in the last part of the time: what is under way then is hit by faults, too. */
const BUSY_PART = 0.9;

type Kind = Exclude<Action['do'], 'clock' | 'mislead' | 'find' | 'lose' | 'run' | 'amendRun'>;
const WEIGHTS: readonly (readonly [kind: Kind, weight: number])[] = [
  ['start', 14],
  ['message', 26],
  ['pause', 7],
  ['resume', 7],
  ['delete', 3],
  ['remove', 4],
  ['interrupt', 5],
  ['confirm', 6],
  ['access', 6],
  ['retitle', 2],
  ['create', 2],
  ['cancelRun', 1],
  ['drainRun', 2],
  ['resumeRun', 4],
  ['concurrency', 2],
];
const KINDS = WEIGHTS.map(([kind]) => kind);
const KIND_WEIGHTS = WEIGHTS.map(([, weight]) => weight);

/** Ascending; the runs begin among them. */
export function randomActions(
  stream: RandomStream,
  { safetyMs, plan }: { readonly safetyMs: number; readonly plan: PlanConstraints },
): readonly TimedAction[] {
  const busyMs = Math.floor(safetyMs * BUSY_PART);
  const moments = Array.from({ length: between(stream, 1, MOMENTS_MAX) }, () => between(stream, 0, busyMs));
  const conversations = between(stream, 2, CONVERSATIONS_MAX);
  const actions: TimedAction[] = [
    { atMs: 0, action: { do: 'start', name: 'c-0' } },
    ...randomRuns(stream, { busyMs, plan }),
  ];
  for (let count = between(stream, ACTIONS_MIN, ACTIONS_MAX); count > 0; count -= 1) {
    const atMs = stream.happens(0.5) ? between(stream, 0, busyMs) : atMoment(stream, moments);
    actions.push({ atMs, action: randomAction(stream, conversations) });
  }
  return actions.sort((a, b) => a.atMs - b.atMs);
}

function atMoment(stream: RandomStream, moments: readonly number[]): number {
  const offsetMs = stream.happens(0.4) ? 0 : between(stream, 0, MOMENT_MS);
  return pick(stream, moments) + offsetMs;
}

function randomRuns(
  stream: RandomStream,
  { busyMs, plan }: { readonly busyMs: number; readonly plan: PlanConstraints },
): readonly TimedAction[] {
  return some(stream, ['first', 'second'], 0.8).map((run) => ({
    atMs: stream.happens(0.4) ? 0 : between(stream, 0, Math.floor(busyMs / 2)),
    action: {
      do: 'run',
      run,
      plan: randomPlan(stream, run, plan),
      // As if the runs were large: items live in shards.
      ...(stream.happens(0.35) ? { shardItems: between(stream, 1, 3) } : {}),
    },
  }));
}

function randomAction(stream: RandomStream, conversations: number): Action {
  const name = `c-${between(stream, 0, conversations - 1)}`;
  const box = `box-${between(stream, 0, 1)}`;
  const run = pick(stream, ['first', 'second']);
  const kind = pick(stream, KINDS, KIND_WEIGHTS);
  switch (kind) {
    case 'start':
      return {
        do: 'start',
        name,
        strategy: pick(stream, GROUPING_STRATEGIES),
        ...(stream.happens(0.2) ? { in: stream.happens(0.3) ? box : `c-${between(stream, 0, 3)}` } : {}),
        ...(stream.happens(0.1) ? { silent: true } : {}),
      };
    case 'pause':
    case 'resume':
    case 'delete':
      return { do: kind, of: stream.happens(0.1) ? box : name };
    case 'create':
      return { do: 'create', sandbox: box };
    case 'cancelRun':
    case 'drainRun':
      return { do: kind, run };
    case 'resumeRun':
      return { do: 'resumeRun', run, classes: some(stream, FAILURE_CLASSES, 0.7) };
    case 'concurrency':
      return { do: 'concurrency', run, of: between(stream, 1, 6) };
    case 'message':
    case 'interrupt':
    case 'access':
    case 'remove':
    case 'confirm':
    case 'retitle':
      return { do: kind, name };
  }
}
