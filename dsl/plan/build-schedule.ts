/**
 * The schedule of a job as the plan has it.
 * Owns the defaults; it says when runs begin, and nothing about what they do.
 */
import type { PlanSchedule } from '../../core/plan/plan.ts';
import { durationMs } from './resolve-item.ts';
import type { JobDocument } from '../schema/job-schema.ts';

export function buildSchedule(schedule: NonNullable<JobDocument['schedule']>): PlanSchedule {
  return {
    cron: schedule.cron,
    timezone: schedule.timezone ?? 'UTC',
    overlap: schedule.overlap ?? 'skip',
    catchupMs: durationMs(schedule.catchup),
    jitterMs: durationMs(schedule.jitter),
    paused: schedule.paused ?? false,
  };
}
