/**
 * `parley temporal schedules`: which jobs run by themselves, and when next.
 * Owns what is printed.
 */
import { Command } from 'commander';
import type { ListedSchedule } from '../../temporal/schedules/schedules.ts';
import { configOption, examples, jsonOption, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openRecords } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { onSchedules } from './schedule-server.ts';
import { addressOption, namespaceOption, type ServerFlags } from './server-options.ts';

/** More instants of one schedule tell a person nothing. */
const NEXT_MAX = 3;

interface SchedulesFlags extends ServerFlags {
  readonly json?: true;
}

export function schedulesCommand({ shell, finish }: CommandContext): Command {
  return new Command()
    .name('schedules')
    .summary('list the schedules of jobs')
    .description('List the schedules of jobs, with their next runs.')
    .addOption(addressOption())
    .addOption(namespaceOption())
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', examples('parley temporal schedules'))
    .action(async (flags: SchedulesFlags) => {
      finish(await list(shell, flags));
    });
}

async function list(shell: Shell, flags: SchedulesFlags): Promise<ExitCode> {
  const found = await onSchedules(shell, flags, (schedules) => schedules.list());
  if (flags.json === true) {
    const records = openRecords(shell.stdout);
    for (const one of found) records.write(recordOf(one));
  } else {
    for (const one of found) shell.stdout.write(`${printable(lineOf(one))}\n`);
    if (found.length === 0)
      shell.stderr.write('there is no schedule; "parley temporal schedule JOB" makes one\n');
  }
  return EXIT.ok;
}

function recordOf({ name, paused, note, timezone, overlap, nextAt, fired, planHash }: ListedSchedule) {
  return {
    type: 'schedule',
    name,
    paused,
    note,
    timezone,
    overlap,
    fired,
    plan_hash: planHash,
    next: nextAt.map((at) => new Date(at).toISOString()),
  };
}

function lineOf({ name, paused, note, overlap, nextAt, fired }: ListedSchedule): string {
  const next = nextAt.slice(0, NEXT_MAX).map((at) => new Date(at).toISOString());
  const why = note === null ? '' : ` (${note})`;
  const when = paused ? `paused${why}` : `next ${next.join(', ')}`;
  return `${name}: fired ${fired} times, overlap ${overlap}, ${when}`;
}
