/**
 * Activities whose failed tries are reported meanwhile: what fails, why, since when, how often, and the next try.
 * Owns what begins and ends a trouble of a command (D32); drivers own the tries. No machine or history records it.
 */
import type { ActivityCommand } from '../core/machine/command.ts';
import { addressOfCommand, type EntityAddress } from '../core/ids.ts';
import { asParleyError, type ParleyError } from '../core/parley-error.ts';
import { ACTIVITY_COMMAND_TYPES, isWatch } from '../core/machine/resource.ts';
import { waitAfter } from '../core/machine/retry.ts';
import type { Clock } from '../ports/clock.ts';
import type { TroubleKey, Troubles } from '../ports/troubles.ts';
import type { Activities, Activity, PollResult, WatchActivity } from './activity.ts';
import { watch } from './watch.ts';

export interface ReportedTo {
  readonly troubles: Troubles;
  readonly clock: Clock;
}

/** A cause is a sentence; its full text is in the error of the last try. */
const CAUSE_CHARS_MAX = 500;
/** Commands in trouble at one time that this process remembers; for one more, only its end may be missed. */
const LASTING_MAX = 10_000;

/** Around every activity of a driver: what they do and answer stays the same. */
export function reportedActivities(activities: Activities, by: ReportedTo): Activities {
  const reporter = new TroubleReporter(by);
  const entries = ACTIVITY_COMMAND_TYPES.map((type) => {
    const activity = activities[type] as unknown as Activity;
    return [
      type,
      isWatch(type) ? reportedWatch(activity as WatchActivity, reporter) : reported(activity, reporter),
    ];
  });
  return Object.fromEntries(entries) as unknown as Activities;
}

function reported(activity: Activity, reporter: TroubleReporter): Activity {
  return {
    retry: activity.retry,
    async run(command, context) {
      try {
        const event = await activity.run(command, context);
        await reporter.over(command, context.attempt > 0);
        return event;
      } catch (error) {
        if (!context.signal.aborted) await reporter.failed(command, activity, error, context.attempt + 1);
        throw error;
      }
    },
    failed: (command, error) => activity.failed(command, error),
  };
}

/** A watch goes on after a poll that failed: its polls are reported, one by one. */
function reportedWatch(activity: WatchActivity, reporter: TroubleReporter): Activity {
  const poll: WatchActivity['poll'] = async (command, memory): Promise<PollResult> => {
    try {
      const found = await activity.poll(command, memory);
      await reporter.over(command, false);
      return found;
    } catch (error) {
      await reporter.failed(command, activity, error, reporter.triesOf(command) + 1);
      throw error;
    }
  };
  const watching: WatchActivity = {
    retry: activity.retry,
    poll,
    run: (command, { signal }) => watch(reporter.clock, signal, (memory) => poll(command, memory)),
    failed: (command, error) => activity.failed(command, error),
  };
  return watching as unknown as Activity;
}

class TroubleReporter {
  readonly clock: Clock;
  private readonly troubles: Troubles;
  private readonly lasting = new Map<string, number>();

  constructor({ troubles, clock }: ReportedTo) {
    this.troubles = troubles;
    this.clock = clock;
  }

  triesOf({ id }: ActivityCommand): number {
    return this.lasting.get(id) ?? 0;
  }

  /** `mayLast`: an earlier process may have reported of it. */
  async over(command: ActivityCommand, mayLast: boolean): Promise<void> {
    if (!this.lasting.delete(command.id) && !mayLast) return;
    await this.quietly(this.troubles.over(keyOf(command), this.clock.now()));
  }

  async failed(command: ActivityCommand, { retry }: Activity, cause: unknown, tries: number): Promise<void> {
    const error = asParleyError(cause);
    const waitMs = waitAfter(error, retry, tries - 1);
    if (waitMs === null) return await this.over(command, tries > 1);
    if (this.lasting.size < LASTING_MAX) this.lasting.set(command.id, tries);
    const at = this.clock.now();
    const failed = { ...keyOf(command), cause: causeOf(error), tries, nextAt: at + waitMs, at };
    await this.quietly(this.troubles.failed(failed));
  }

  /** A failure of the store must not become a failure of the command. */
  private quietly(work: Promise<void>): Promise<void> {
    return work.catch(() => undefined);
  }
}

function causeOf({ code, message }: ParleyError): string {
  return `${code}: ${message}`.slice(0, CAUSE_CHARS_MAX);
}

/** Commands for an item belong to its run, even if a shard hosts the item. */
function keyOf(command: ActivityCommand): TroubleKey {
  const what = command.type;
  if (!('key' in command)) return { about: addressOfCommand(command.id), item: null, what };
  const about: EntityAddress = { machine: 'run', id: command.runId };
  return { about, item: command.key, what };
}
