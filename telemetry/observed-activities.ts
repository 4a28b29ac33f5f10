/**
 * Activities whose tries and polls are observed: a try is a span of its own, a watch is one span over all its polls.
 * Owns what a try, a poll and an end of a command are; the entity that ordered it is in the id of the command.
 */
import type {
  Activities,
  Activity,
  ActivityContext,
  PollResult,
  WatchActivity,
} from '../activities/activity.ts';
import type { ActivityCommand, MachineEvent } from '../core/machine/command.ts';
import { addressOfCommand } from '../core/ids.ts';
import { asParleyError } from '../core/parley-error.ts';
import { ACTIVITY_COMMAND_TYPES, isWatch } from '../core/machine/resource.ts';
import type { Clock } from '../ports/clock.ts';
import type { TryOutcome } from './meters.ts';
import type { Observers } from './observers.ts';
import { spanIdOf, traceIdOf, workSpanId, type Span } from './span.ts';

export interface ObservedWorld {
  readonly activities: Activities;
  readonly clock: Clock;
  /** About the watch whose poll is under way; left out where a watch is one run from its start to its end. */
  readonly watching?: () => Watching;
}

/** A watch that is under way. */
export interface Watching {
  /** Epoch milliseconds at which it began. */
  readonly startMs: number;
  /** Polls so far, this one included. */
  readonly polls: number;
}

/** The same activities, each seen by the observers. */
export function observedActivities(world: ObservedWorld, observers: Observers): Activities {
  const entries = ACTIVITY_COMMAND_TYPES.map((type) => {
    const activity = world.activities[type] as unknown as Activity;
    const watching = isWatch(type) ? { poll: observedPoll(world, observers, activity as WatchActivity) } : {};
    return [type, { ...observedActivity(world, observers, activity), ...watching }];
  });
  return Object.fromEntries(entries) as unknown as Activities;
}

function observedActivity(world: ObservedWorld, observers: Observers, activity: Activity): Activity {
  const { meters } = observers;
  return {
    retry: activity.retry,
    run: (command, context) => tryOnce(world, observers, { activity, command, context }),
    failed(command, error) {
      meters.carriedOut(command.type, 'failed');
      return activity.failed(command, error);
    },
  };
}

interface Try {
  readonly activity: Activity;
  readonly command: ActivityCommand;
  readonly context: ActivityContext;
}

async function tryOnce(world: ObservedWorld, observers: Observers, tried: Try): Promise<MachineEvent | null> {
  const { activity, command, context } = tried;
  const startMs = world.clock.now();
  const end = (outcome: TryOutcome, errorCode: string | null): void => {
    const told = { command, startMs, endMs: Math.max(startMs, world.clock.now()), errorCode };
    if (isWatch(command.type)) watched(observers, { ...told, outcome });
    else triedOnce(observers, { ...told, outcome, attempt: context.attempt });
  };
  try {
    const event = await activity.run(command, context);
    // An answer after the abort is ignored.
    end(context.signal.aborted ? 'cut_short' : 'answered', null);
    return event;
  } catch (error) {
    const isCut = context.signal.aborted;
    end(isCut ? 'cut_short' : 'failed', isCut ? null : asParleyError(error).code);
    throw error;
  }
}

type Ended = Pick<Told, 'command' | 'startMs' | 'endMs' | 'errorCode'> & { readonly outcome: TryOutcome };

function triedOnce(
  { meters, spans }: Observers,
  { outcome, attempt, ...told }: Ended & { readonly attempt: number },
): void {
  const { command, startMs, endMs } = told;
  meters.tried(command.type, outcome, endMs - startMs);
  if (outcome === 'answered') meters.carriedOut(command.type, 'answered');
  spans?.add(spanOf({ ...told, attempt, facts: { 'parley.attempt': attempt, 'parley.outcome': outcome } }));
}

/** A watch that was cut off or failed goes on later: only its end is reported. */
function watched({ meters, spans }: Observers, { outcome, ...told }: Ended): void {
  if (outcome !== 'answered') return;
  meters.carriedOut(told.command.type, 'answered');
  spans?.add(spanOf({ ...told, attempt: 0, facts: {} }));
}

function observedPoll(
  { clock, watching }: ObservedWorld,
  { meters, spans }: Observers,
  activity: WatchActivity,
): WatchActivity['poll'] {
  return async (command, memory): Promise<PollResult> => {
    try {
      const found = await activity.poll(command, memory);
      meters.polled(command.type, found.kind);
      if (found.kind === 'again') return found;
      meters.carriedOut(command.type, 'answered');
      const now = clock.now();
      const { startMs, polls } = watching?.() ?? { startMs: now, polls: 1 };
      const endMs = Math.max(startMs, now);
      const facts = { 'parley.looks': polls };
      spans?.add(spanOf({ command, startMs, endMs, errorCode: null, attempt: 0, facts }));
      return found;
    } catch (error) {
      meters.polled(command.type, 'failed');
      throw error;
    }
  };
}

interface Told {
  readonly command: ActivityCommand;
  readonly startMs: number;
  readonly endMs: number;
  readonly errorCode: string | null;
  readonly attempt: number;
  readonly facts: Span['attributes'];
}

/** Ids only: the message that a command has for an agent, or its data for a sandbox, is not recorded here. */
function spanOf({ command, startMs, endMs, errorCode, attempt, facts }: Told): Span {
  const address = addressOfCommand(command.id);
  const sandbox = 'sandboxId' in command && typeof command.sandboxId === 'string' ? command.sandboxId : null;
  return {
    traceId: traceIdOf(address),
    spanId: spanIdOf(address, `${command.id} ${attempt}`),
    parentSpanId: workSpanId(address),
    name: command.type,
    startMs,
    endMs,
    attributes: {
      'parley.command_id': command.id,
      ...(sandbox === null ? {} : { 'parley.sandbox_id': sandbox }),
      ...facts,
    },
    errorCode,
  };
}
