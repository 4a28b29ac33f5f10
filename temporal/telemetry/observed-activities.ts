/**
 * Activities whose tries and looks are watched: a try is a span of its own, a watch is one span over all its looks.
 * Owns what a try, a look and an end of a command are; the address comes from the workflow that handed it out.
 */
import { Context } from '@temporalio/activity';
import type {
  Activities,
  Activity,
  ActivityContext,
  Look,
  WatchActivity,
} from '../../activities/activity.ts';
import type { ActivityCommand, MachineEvent } from '../../core/command.ts';
import { asParleyError } from '../../core/parley-error.ts';
import { ACTIVITY_COMMAND_TYPES, isWatch } from '../../core/resource.ts';
import { addressOf } from '../../workflows/entity.ts';
import type { CarrierOptions } from '../carrier.ts';
import type { TryOutcome } from './meters.ts';
import type { Observers } from './observers.ts';
import { rootSpanId, spanIdOf, traceIdOf, type Span } from './span.ts';

type World = Pick<CarrierOptions, 'activities' | 'clock'>;

export function observedActivities(world: World, observers: Observers): Activities {
  const entries = ACTIVITY_COMMAND_TYPES.map((type) => {
    const activity = world.activities[type] as unknown as Activity;
    const watching = isWatch(type) ? { look: observedLook(world, observers, activity as WatchActivity) } : {};
    return [type, { ...observedActivity(world, observers, activity), ...watching }];
  });
  return Object.fromEntries(entries) as unknown as Activities;
}

function observedActivity(world: World, observers: Observers, activity: Activity): Activity {
  const { meters } = observers;
  return {
    type: activity.type,
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

async function tryOnce(
  { clock }: World,
  { meters, spans }: Observers,
  { activity, command, context }: Try,
): Promise<MachineEvent | null> {
  const startMs = clock.now();
  const end = (outcome: TryOutcome, errorCode: string | null): void => {
    const endMs = clock.now();
    meters.tried(command.type, outcome, Math.max(0, endMs - startMs));
    if (outcome === 'answered') meters.carriedOut(command.type, 'answered');
    const facts = { 'parley.attempt': context.attempt, 'parley.outcome': outcome };
    spans?.add(spanOf({ command, startMs, endMs, errorCode, attempt: context.attempt, facts }));
  };
  try {
    const event = await activity.run(command, context);
    // What comes after the end was called for is not listened to.
    end(context.signal.aborted ? 'cut_short' : 'answered', null);
    return event;
  } catch (error) {
    const isCut = context.signal.aborted;
    end(isCut ? 'cut_short' : 'failed', isCut ? null : asParleyError(error).code);
    throw error;
  }
}

function observedLook(
  { clock }: World,
  { meters, spans }: Observers,
  activity: WatchActivity,
): WatchActivity['look'] {
  return async (command, memory): Promise<Look> => {
    try {
      const found = await activity.look(command, memory);
      meters.looked(command.type, found.kind);
      if (found.kind === 'again') return found;
      meters.carriedOut(command.type, 'answered');
      const { info } = Context.current();
      const startMs = info.scheduledTimestampMs;
      const facts = { 'parley.looks': info.attempt };
      spans?.add(spanOf({ command, startMs, endMs: clock.now(), errorCode: null, attempt: 0, facts }));
      return found;
    } catch (error) {
      meters.looked(command.type, 'failed');
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

/** Ids only: what a command says to an agent, or carries to a sandbox, is nobody's business here. */
function spanOf({ command, startMs, endMs, errorCode, attempt, facts }: Told): Span {
  const address = addressOf(Context.current().info.workflowExecution?.workflowId ?? '');
  const sandbox = 'sandboxId' in command && typeof command.sandboxId === 'string' ? command.sandboxId : null;
  return {
    traceId: traceIdOf(address),
    spanId: spanIdOf(address, `${command.id} ${attempt}`),
    parentSpanId: rootSpanId(address),
    name: command.type,
    startMs,
    endMs: Math.max(startMs, endMs),
    attributes: {
      'parley.command_id': command.id,
      ...(sandbox === null ? {} : { 'parley.sandbox_id': sandbox }),
      ...facts,
    },
    errorCode,
  };
}
