/**
 * What an ordinary workflow has carried out: the product's own activities, one at a time, and rows.
 * Owns the two ways in; the work and how long it takes are the same for both ways.
 */
import { Context } from '@temporalio/activity';
import type { Activities, Activity } from '../../../activities/activity.ts';
import type { ActivityCommand, MachineEvent } from '../../../core/machine/command.ts';
import type { ProjectionRow } from '../../../core/machine/projection.ts';
import type { RecordStore } from '../../../ports/record-store.ts';
import type { Milestones } from '../milestones.ts';

export interface OrdinaryActivities {
  carryOut(command: ActivityCommand): Promise<MachineEvent | null>;
  project(rows: readonly ProjectionRow[]): Promise<void>;
}

export interface OrdinaryParts {
  readonly activities: Activities;
  readonly records: Pick<RecordStore, 'project'>;
  readonly milestones: Milestones;
}

export function ordinaryActivities({ activities, records, milestones }: OrdinaryParts): OrdinaryActivities {
  return {
    carryOut(command) {
      const { cancellationSignal: signal, info } = Context.current();
      const activity = activities[command.type] as unknown as Activity;
      // Ids of commands are unique over everything that is alive, those of a direct workflow only within it.
      const id = `${info.workflowExecution?.workflowId ?? ''}/${command.id}`;
      return activity.run({ ...command, id } as never, { signal, attempt: info.attempt - 1 });
    },
    async project(rows) {
      await records.project(rows);
      milestones.see(rows);
    },
  };
}
