/**
 * Schedules of jobs on a Temporal server, one for each job, under its name.
 * Owns their form there; the caller chooses the plan that a firing runs.
 */
import {
  ScheduleAlreadyRunning,
  ScheduleClient,
  ScheduleNotFoundError,
  type Connection,
  type ScheduleHandle,
  type ScheduleOptions,
  type ScheduleOptionsStartWorkflowAction,
  type ScheduleUpdateOptions,
} from '@temporalio/client';
import type { DataConverter, Workflow } from '@temporalio/common';
import { ParleyError } from '../../core/parley-error.ts';
import type { PlanSchedule } from '../../core/plan/plan.ts';
import type { ScheduledRunInput } from '../../workflows/scheduled-run.ts';

/** Before the name of the job: a namespace may have other schedules. */
const PREFIX = 'parley-job/';
const OVERLAP = {
  skip: 'SKIP',
  buffer_one: 'BUFFER_ONE',
  buffer_all: 'BUFFER_ALL',
  cancel_other: 'CANCEL_OTHER',
  allow_all: 'ALLOW_ALL',
} as const satisfies Record<PlanSchedule['overlap'], string>;

export interface SchedulesOptions {
  readonly connection: Connection;
  readonly namespace: string;
  readonly dataConverter?: DataConverter;
}

/** A schedule as people see it. */
export interface ListedSchedule {
  /** Of the job. */
  readonly name: string;
  readonly paused: boolean;
  /** Why, or by whom, in the words of the server. */
  readonly note: string | null;
  readonly timezone: string | null;
  /** As the language writes it. */
  readonly overlap: string;
  /** Epoch milliseconds, the soonest first; empty while it is paused for good. */
  readonly nextAt: readonly number[];
  /** Firings so far. */
  readonly fired: number;
  /** Hash of the plan that the next firing runs. */
  readonly planHash: string | null;
}

/** Schedules of jobs at a Temporal server. */
export class Schedules {
  private readonly client: ScheduleClient;

  constructor({ connection, namespace, dataConverter }: SchedulesOptions) {
    this.client = new ScheduleClient({
      connection,
      namespace,
      ...(dataConverter === undefined ? {} : { dataConverter }),
    });
  }

  /** Creates it, or makes the existing one the same; a pause by hand stays. */
  async put(schedule: PlanSchedule, input: ScheduledRunInput): Promise<'created' | 'updated'> {
    const { paused } = schedule;
    const written = writtenOf(schedule, input);
    try {
      await this.client.create({ scheduleId: PREFIX + input.job, ...written, state: { paused } });
      return 'created';
    } catch (error) {
      if (!(error instanceof ScheduleAlreadyRunning)) throw error;
    }
    await this.handle(input.job).update(
      ({ state }): ScheduleUpdateOptions<ScheduleOptionsStartWorkflowAction<Workflow>> => ({
        ...written,
        state: { ...state, paused: paused || state.paused },
      }),
    );
    return 'updated';
  }

  async list(): Promise<readonly ListedSchedule[]> {
    const names: string[] = [];
    for await (const { scheduleId } of this.client.list())
      if (scheduleId.startsWith(PREFIX)) names.push(scheduleId.slice(PREFIX.length));
    const found = await Promise.all(names.sort().map((name) => this.find(name)));
    return found.filter((one) => one !== null);
  }

  async find(name: string): Promise<ListedSchedule | null> {
    try {
      const { state, spec, info, policies, action } = await this.handle(name).describe();
      const [input] = (action.args ?? []) as readonly Partial<ScheduledRunInput>[];
      return {
        name,
        paused: state.paused,
        note: state.note === undefined || state.note === '' ? null : state.note,
        timezone: spec.timezone ?? null,
        overlap: (policies.overlap ?? OVERLAP.skip).toLowerCase(),
        nextAt: info.nextActionTimes.map((at) => at.getTime()),
        fired: info.numActionsTaken,
        planHash: input?.planHash ?? null,
      };
    } catch (error) {
      if (error instanceof ScheduleNotFoundError) return null;
      throw error;
    }
  }

  /** @throws ParleyError not_found, as all below */
  async delete(name: string): Promise<void> {
    await this.at(name, (handle) => handle.delete());
  }

  async pause(name: string): Promise<void> {
    await this.at(name, (handle) => handle.pause('paused with parley'));
  }

  async unpause(name: string): Promise<void> {
    await this.at(name, (handle) => handle.unpause('unpaused with parley'));
  }

  /** Fires now, whether it is paused or not. */
  async trigger(name: string): Promise<void> {
    await this.at(name, (handle) => handle.trigger());
  }

  private handle(name: string): ScheduleHandle {
    return this.client.getHandle(PREFIX + name);
  }

  private async at(name: string, act: (handle: ScheduleHandle) => Promise<void>): Promise<void> {
    try {
      await act(this.handle(name));
    } catch (error) {
      if (!(error instanceof ScheduleNotFoundError)) throw error;
      throw new ParleyError('not_found', `Cannot find a schedule of "${name}": there is none`, {
        cause: error,
        remedy: 'list them with "parley temporal schedules"',
      });
    }
  }
}

type Written = Pick<
  ScheduleOptions<ScheduleOptionsStartWorkflowAction<Workflow>>,
  'action' | 'policies' | 'spec'
>;

function writtenOf(
  { cron, timezone, overlap, catchupMs, jitterMs }: PlanSchedule,
  input: ScheduledRunInput,
): Written {
  return {
    spec: {
      cronExpressions: [...cron],
      timezone,
      ...(jitterMs === null ? {} : { jitter: jitterMs }),
    },
    action: {
      type: 'startWorkflow',
      workflowType: 'scheduledRun',
      workflowId: `scheduled/${input.job}`,
      taskQueue: input.queue,
      args: [input],
    },
    policies: { overlap: OVERLAP[overlap], ...(catchupMs === null ? {} : { catchupWindow: catchupMs }) },
  };
}
