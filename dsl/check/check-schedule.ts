/**
 * The schedule of a job: its cron expressions are some, its time zone exists, and it can fire.
 * Owns the codes of what is wrong with it; the syntax is in dsl/schedule/.
 */
import { parseCron } from '../schedule/cron.ts';
import { spanInScalar } from '../read/scalar-offset.ts';
import { childOf, itemsOf, textOf, type Tree } from '../read/tree.ts';
import type { CheckContext } from './check-context.ts';

export function checkSchedule({ root, report }: CheckContext): void {
  const schedule = childOf(root, 'schedule');
  const cron = childOf(schedule, 'cron');
  const fires = (cron?.kind === 'list' ? itemsOf(cron) : [cron, schedule]).flatMap((tree) =>
    checkCron(tree, report),
  );
  if (fires.length > 0 && !fires.includes(true) && schedule !== undefined)
    report.add('JOB515', (cron ?? schedule).span, 'this schedule never fires: no month has such a day', {
      remedy: 'name a day that the month has',
    });
  const zone = childOf(schedule, 'timezone');
  const name = textOf(zone);
  if (zone === undefined || name === null || isTimeZone(name)) return;
  report.add('JOB219', zone.span, `"${name}" is not a known time zone`, {
    remedy: 'write a name such as Europe/Berlin, or UTC',
  });
}

/** Whether it fires; nothing when it is no text, or says nothing that is understood. */
function checkCron(tree: Tree | undefined, report: CheckContext['report']): readonly boolean[] {
  const text = textOf(tree);
  if (text === null || tree?.kind !== 'scalar') return [];
  const read = parseCron(text);
  if (read.kind === 'cron') return [read.canFire];
  const { message, remedy, ...range } = read.problem;
  report.add('JOB219', spanInScalar(tree, range, report.text), message, { remedy });
  return [];
}

/**
 * Names of time zones.
 * Owns the question whether a name is known; the list is that of the platform.
 */

/** A name of the IANA list, as in `Europe/Berlin`, or `UTC`. */
export function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone !== '';
  } catch {
    return false;
  }
}
