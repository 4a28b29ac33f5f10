/**
 * Fake activities whose watches can be polled, as a driver on Temporal does.
 * Owns what a poll finds by default: the agent has finished, and the sandbox is busy for another hour.
 */
import type { PollResult } from '../../../activities/activity.ts';
import type { ActivityCommand, CommandOf } from '../../../core/machine/command.ts';
import type { WatchCommandType } from '../../../core/machine/resource.ts';
import type { Clock } from '../../../ports/clock.ts';
import {
  fakeActivities,
  reportOf,
  type FakeActivities,
  type Overrides,
} from '../../engine/fake-activities.ts';

export type Looks = {
  readonly [Type in WatchCommandType]?: (command: CommandOf<Type>) => PollResult;
};

const AGAIN_MS = 3_600_000;

export function watchingFakes(clock: Clock, overrides: Overrides = {}, polls: Looks = {}): FakeActivities {
  const fakes = fakeActivities(clock, overrides);
  const found: Required<Looks> = {
    watchAgent: ({ id, generation }) => over(id, clock.now(), generation),
    watchIdle: () => ({ kind: 'again', at: clock.now() + AGAIN_MS, memory: null }),
    ...polls,
  };
  const polled = <Type extends WatchCommandType>(type: Type) => ({
    ...fakes.activities[type],
    poll: (command: ActivityCommand): Promise<PollResult> => {
      fakes.ran.push({ id: command.id, type, attempt: 0, command });
      return Promise.resolve(found[type](command as never));
    },
  });
  const watches = { watchAgent: polled('watchAgent'), watchIdle: polled('watchIdle') };
  return { ...fakes, activities: { ...fakes.activities, ...watches } as FakeActivities['activities'] };
}

function over(commandId: string, at: number, generation: number): PollResult {
  return {
    kind: 'over',
    event: { type: 'agentReported', commandId, report: reportOf('FINISHED', at, generation) },
  };
}
