/**
 * The workflows of the bundle: one thin entry per machine, named as the machine, and what schedules start.
 * Owns the names; everything else is the driver's.
 */
import { drive } from './drive.ts';
import type { DriveInput } from './envelope.ts';

export const sandbox = (input: DriveInput): Promise<void> => drive(input);
export const conversation = (input: DriveInput): Promise<void> => drive(input);
export const run = (input: DriveInput): Promise<void> => drive(input);
/** Some items of a large run. */
export const shard = (input: DriveInput): Promise<void> => drive(input);

export { scheduledRun } from './scheduled-run.ts';
