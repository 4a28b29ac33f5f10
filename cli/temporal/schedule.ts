/**
 * `parley temporal schedule`: the schedule of a job, made as the job says, and what is done to one by hand.
 * Owns flags and what is printed; what a schedule is on a server is in temporal/schedules/.
 */
import { Option } from 'commander';
import { runId, type RunId } from '../../core/ids.ts';
import type { Plan, PlanSchedule } from '../../core/plan/plan.ts';
import { converterOf, knownSealKey } from '../../host/engines/temporal-codec.ts';
import type { Schedules, ListedSchedule } from '../../temporal/schedules/schedules.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { loadPlan } from '../job/load-plan.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { writeAnswer } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import { refuseAwaiting } from '../job/staged-rows.ts';
import type { Shell } from '../../host/shell.ts';
import { type ServerFlags, serverIn } from './server-options.ts';

/** What can be done to one that exists, by its name. */
const DEEDS = { delete: 'deleted', pause: 'paused', unpause: 'unpaused', trigger: 'triggered' } as const;
type Deed = keyof typeof DEEDS;

type ScheduleFlags = ServerFlags & Partial<Readonly<Record<Deed, string>>>;

export function scheduleCommand({ shell, ends }: CommandContext): CliCommand {
  const byHand = (deed: Deed, words: string): Option => {
    const others = (Object.keys(DEEDS) as Deed[]).filter((other) => other !== deed);
    return new Option(`--${deed} <name>`, words).conflicts(others);
  };
  return new CliCommand('schedule')
    .summary('make the schedule of a job')
    .description('Make or change the schedule of a job as its file says, or act on one by its name.')
    .argument('[job]', 'job file with a "schedule", or a plan that "parley plan --out" wrote')
    .addOption(byHand('delete', 'delete the schedule of this job; its runs stay'))
    .addOption(byHand('pause', 'let it not fire until it is unpaused'))
    .addOption(byHand('unpause', 'let it fire again'))
    .addOption(byHand('trigger', 'begin a run now'))
    .shares('address', 'namespace', 'json', 'config')
    .says('Exit codes: 0 done, 2 it cannot be done so, 4 the server refuses the key, 5 it does not answer.')
    .examples('parley temporal schedule nightly.yaml', 'parley temporal schedule --trigger nightly')
    .action(ends((file: string | undefined, flags: ScheduleFlags) => schedule(shell, file, flags)));
}

async function schedule(shell: Shell, file: string | undefined, flags: ScheduleFlags): Promise<ExitCode> {
  const deed = (Object.keys(DEEDS) as Deed[]).find((one) => flags[one] !== undefined);
  if ((deed === undefined) === (file === undefined))
    throw new CliError('Cannot schedule: name a job, or one of --delete, --pause, --unpause and --trigger');
  if (deed !== undefined) return await act(shell, deed, flags);
  return await put(shell, file ?? '', flags);
}

async function act(shell: Shell, deed: Deed, flags: ScheduleFlags): Promise<ExitCode> {
  const name = flags[deed] ?? '';
  await onSchedules(shell, flags, (schedules) => schedules[deed](name));
  say(shell, flags, { name, done: DEEDS[deed], text: `schedule ${name}: ${DEEDS[deed]}` });
  return EXIT.ok;
}

async function put(shell: Shell, file: string, flags: ScheduleFlags): Promise<ExitCode> {
  const config = await openDeployment(shell, { path: flags.config, startsProxy: false });
  requireTemporal(config, file);
  const plan = await loadPlan(shell, { file, config: flags.config, checksSecrets: true });
  if (plan === null) {
    throw new CliError(`Cannot schedule "${file}": the job has errors`, {
      remedy: 'correct them; nothing was made',
    });
  }
  if (plan.issues !== undefined)
    throw new CliError(`Cannot schedule "${file}": every firing would run over the issues of today`, {
      remedy:
        'call "parley run" from a timer of the system: it asks for issues, and leaves out those with a result',
    });
  refuseAwaiting(plan, `schedule "${file}"`, 'name the rows in the job, or run it by hand');
  const { schedule: wanted, name, hash } = plan;
  if (wanted === undefined) {
    throw new CliError(`Cannot schedule "${file}": the job has no "schedule"`, {
      remedy: 'add one, as in schedule: { cron: "30 2 * * *", timezone: Europe/Berlin }',
    });
  }
  const planId = await keepPlan(config, plan);
  const { queue } = config.engine.temporal;
  const put = async (schedules: Schedules) => ({
    done: await schedules.put(wanted, { queue, job: name, planId, planHash: hash }),
    listed: await schedules.find(name),
  });
  const { done, listed } = await onSchedules(shell, flags, put);
  const next = listed?.nextAt[0];
  const when = wanted.paused || next === undefined ? 'paused' : `next run ${new Date(next).toISOString()}`;
  say(shell, flags, { name, done, text: `schedule ${name}: ${done}, ${describe(wanted)}; ${when}` });
  return EXIT.ok;
}

/** A firing begins whatever plan was in the store last, under a name of its own for each plan. */
async function keepPlan(config: DeploymentConfig, plan: Plan): Promise<RunId> {
  const { openDeployedStore } = await import('../../host/follow/config-store.ts');
  const store = await openDeployedStore(config);
  try {
    const planId = runId(`schedule/${plan.name}/${plan.hash}`);
    await store.plans.putPlan(planId, plan);
    return planId;
  } finally {
    await store.close();
  }
}

function requireTemporal({ engine }: DeploymentConfig, file: string): void {
  if (engine.kind === 'temporal') return;
  throw new CliError(
    `Cannot schedule "${file}": the engine of this deployment is embedded, and schedules need Temporal`,
    {
      remedy: 'set engine.kind to "temporal", or let cron of the system call "parley run"',
    },
  );
}

function describe({ cron, timezone, overlap }: PlanSchedule): string {
  return `${cron.map((one) => `"${one}"`).join(', ')} in ${timezone}, overlap ${overlap}`;
}

interface Said {
  readonly name: string;
  readonly done: string;
  readonly text: string;
}

function say(shell: Shell, flags: ScheduleFlags, { name, done, text }: Said): void {
  const records = [{ type: 'schedule_changed', name, done }];
  writeAnswer(shell.stdout, flags, { records, lines: [printable(text)] });
}

/** @throws ParleyError engine_unreachable, engine_misconfigured, unauthorized, forbidden, not_found */
async function onSchedules<Answer>(
  shell: Shell,
  flags: ServerFlags,
  question: (schedules: Schedules) => Promise<Answer>,
): Promise<Answer> {
  const config = await openDeployment(shell, { path: flags.config, startsProxy: false });
  const server = serverIn(config, flags);
  const { Connection } = await import('@temporalio/client');
  const { checkServer } = await import('../../temporal/check-server.ts');
  const { Schedules } = await import('../../temporal/schedules/schedules.ts');
  const { connectionOptions } = await import('../../temporal/server-address.ts');
  const { serverProblem } = await import('../../temporal/server-problem.ts');
  await checkServer(server);
  const connection = Connection.lazy(connectionOptions(server));
  try {
    const { namespace } = server;
    const { env } = process;
    const dataConverter = converterOf({ env, sealKey: knownSealKey(env, config.dataDir) }, () => undefined);
    return await question(new Schedules({ connection, namespace, dataConverter }));
  } catch (error) {
    throw serverProblem(server, error);
  } finally {
    await connection.close();
  }
}

/** More instants of one schedule do not help a person. */
const NEXT_MAX = 3;

/** `parley temporal schedules`: which jobs run by themselves, and when next. */
export function schedulesCommand({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('schedules')
    .summary('list the schedules of jobs')
    .description('List the schedules of jobs, with their next runs.')
    .shares('address', 'namespace', 'json', 'config')
    .examples('parley temporal schedules')
    .action(ends((flags: ServerFlags) => list(shell, flags)));
}

async function list(shell: Shell, flags: ServerFlags): Promise<ExitCode> {
  const found = await onSchedules(shell, flags, (schedules) => schedules.list());
  const lines = found.map((one) => printable(lineOf(one)));
  writeAnswer(shell.stdout, flags, { records: found.map(recordOf), lines });
  if (flags.json !== true && found.length === 0)
    shell.stderr.write('there is no schedule; "parley temporal schedule JOB" makes one\n');
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
