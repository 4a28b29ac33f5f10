/**
 * `parley run`: compile, start, and stay beside the run until it is finished or rests.
 * Owns the order of these; the run itself belongs to the host, and what a run does to its plan.
 */
import type { RunId } from '../../core/ids.ts';
import { isAwaiting } from '../../core/plan/known-items.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type HostFlags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { InputOptions } from '../job/given-inputs.ts';
import type { Host } from '../../host/host-port.ts';
import { detach } from '../detach.ts';
import { keptIssues } from '../job/issue-answers.ts';
import { loadPlan, type PlanRequest } from '../job/load-plan.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { launched, openHostWithView, orClose } from '../open-host.ts';
import { type Subset, subsetOf } from '../job/plan-subset.ts';
import { preflightRun } from '../../host/preflight/preflight-run.ts';
import { newRunId, parseRunId } from '../../host/run-id.ts';
import { attend } from '../run-session.ts';
import { userName } from '../run-settings.ts';
import { type ReadStageRows, refuseAwaiting, StagedRows, stageRows } from '../job/staged-rows.ts';
import { takeChanges } from '../take-changes.ts';
import { openServer } from '../open-run.ts';
import { serverAddress, type ServerOptions } from '../server/server-address.ts';
import type { Shell } from '../../host/shell.ts';
import { openRunView } from '../view/open-run-view.ts';
import type { RunView } from '../view/run-view.ts';

interface RunOptions extends InputOptions, ServerOptions, HostFlags {
  readonly runId?: string;
  readonly concurrency?: string;
  readonly only?: string;
  readonly limit?: string;
  readonly canary?: string;
  readonly detach?: true;
  readonly acceptChanges?: true;
  readonly again?: true;
  /** False with `--no-preflight`. */
  readonly preflight: boolean;
}

/** As many as a plan holds. */
const COUNT_MAX = 10_000;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('run')
    .description('Run a job file, or a saved plan, to its report.')
    .argument('<file>', 'job file, or a plan that "parley plan --out" wrote')
    .option('--run-id <id>', 'id of the run (default: name, time and four random digits)')
    .option('--concurrency <n>', 'conversations at once, instead of what the job says')
    .option('--only <glob>', 'only conversations whose key matches, such as "tidy/*"')
    .option('--limit <n>', 'only the first conversations of the plan')
    .option('--canary <n>', 'so many first; the others only if all of these succeed')
    .option(
      '--accept-changes',
      'with the --run-id of a run whose job has changed since: take up what a run can',
    )
    .option('--again', 'take issues once more that a run of the job has a result of')
    .option('--no-preflight', 'start without a look at what the job needs')
    .option('--detach', 'go on without this terminal; "parley watch" shows the run')
    .shares('json', 'plain', 'engine', 'config', 'inputs', 'server')
    .says(
      'Ctrl-C once lets what runs end and starts nothing new; twice leaves the run as it is, to be resumed.',
    )
    .says(
      'Exit codes: 0 all succeeded within tolerate.failed, 1 more failed, 2 nothing was started, 3 drained or\npaused, 5 the engine cannot be reached, 7 reconciliation outside tolerance, 130 left.',
    )
    .examples('parley run job.yaml', 'parley run plan.json --json > run.jsonl')
    .action(ends((file: string, options: RunOptions) => run(shell, file, options)));
}

async function run(shell: Shell, file: string, options: RunOptions): Promise<ExitCode> {
  const subset: Subset = {
    only: options.only ?? null,
    limit: parseCount('--limit', options.limit),
    canary: parseCount('--canary', options.canary),
    concurrency: parseCount('--concurrency', options.concurrency),
  };
  const named = options.runId === undefined ? null : parseRunId(options.runId);
  const { config: path, engine } = options;
  const server = serverAddress(shell, options);
  const config = server === null ? await openDeployment(shell, { path, startsProxy: true, engine }) : null;
  const request = {
    ...{ file, config: options.config, checksSecrets: true, inputs: options },
    keptIssues: async () => (named === null || config === null ? [] : await keptIssues(shell, config, named)),
    leavesDone: options.again !== true,
  };
  const compiled = await loadPlan(shell, request);
  if (compiled === null) {
    throw new CliError(`Cannot run "${file}": the job has errors`, {
      remedy: 'correct them; nothing was started',
    });
  }
  const plan = subsetOf(compiled, subset);
  const json = options.json === true;
  // A service checks its own environment.
  if (options.preflight && config !== null) await preflightRun(shell, { config, plan, file, json });
  const runId = named ?? newRunId(plan.name, { now: shell.clock.now(), random: shell.randomHex(4) });
  if (config === null) {
    refuseAwaiting(plan, 'hand the run to a service', 'run it here, without --server');
    return await runAtServer(shell, { runId, plan }, options);
  }
  if (options.detach === true) {
    const args = detachedArgs(file, runId, options);
    return await detach(shell, { config, runId, args, issues: compiled.issues ?? [], json });
  }
  const { host, view } = await openHostWithView(shell, config, options);
  const by = userName(shell);
  const say = (text: string): void => view.notice(text);
  const planned = named === null ? null : await planOfRun(host, runId);
  const changedPlan = async (before: Plan): Promise<Plan> => {
    const rows = await stageRows({ plan: before, results: host.results, runId });
    const isStaged = before.items.some(isAwaiting);
    const job = isStaged ? subsetOf(await requireStaged(shell, request, rows), subset) : plan;
    const requestId = `run-${shell.randomHex(16)}`;
    const accepts = options.acceptChanges === true;
    return await takeChanges({ host, runId, planned: before, job, accepts, by, requestId, say });
  };
  const started =
    planned === null || planned.hash === plan.hash
      ? (planned ?? plan)
      : await orClose({ host, view }, () => changedPlan(planned));
  await start({ host, view, runId, plan: started });
  const again = { ...request, keptIssues: () => Promise.resolve(started.issues ?? []) };
  const staged = new StagedRows({
    ...{ host, runId, plan: started, by, say },
    compile: (readStageRows) => loadPlan(shell, { ...again, readStageRows }),
    newId: () => `stage-${shell.randomHex(16)}`,
  });
  return await attend({ shell, host, runId, plan: started, staged, view, json });
}

/** Sent to a service, with the secrets that the plan names and this machine has, and watched from here. */
async function runAtServer(
  shell: Shell,
  { runId, plan }: { readonly runId: RunId; readonly plan: Plan },
  options: RunOptions,
): Promise<ExitCode> {
  const json = options.json === true;
  const view = await openRunView({
    ...{ shell, json, plain: options.plain === true },
    lastActivityAt: () => Promise.resolve(null),
  });
  const { secretsHere } = await import('../../host/secret-source.ts');
  const host = await openServer(shell, options, (text) => view.notice(text));
  if (host === null) throw new Error('Cannot submit the run: no service is named');
  await start({ host, view, runId, plan, secrets: await secretsHere(plan, shell.env) });
  if (options.detach !== true)
    return await attend({ ...{ shell, runId, plan, view, json }, host: withResults(host) });
  view.close();
  return EXIT.ok;
}

/** What the run has made is copied here before its end is reported. */
function withResults(host: Host): Host {
  return {
    ...host,
    async waitForRun(runId, onChange, signal) {
      const row = await host.waitForRun(runId, onChange, signal);
      if (row.phase === 'finished') await host.collect(runId);
      return row;
    },
  };
}

/** The job with the rows that its run has taken up before. @throws CliError when it has errors, which were printed */
async function requireStaged(shell: Shell, request: PlanRequest, rows: ReadStageRows): Promise<Plan> {
  const plan = await loadPlan(shell, { ...request, readStageRows: rows });
  if (plan !== null) return plan;
  throw new CliError(`Cannot go on with "${request.file}": the job has errors`, { remedy: 'correct them' });
}

/** Null when there is no such run. */
async function planOfRun(host: Host, runId: RunId): Promise<Plan | null> {
  return (await host.run(runId)) === null ? null : await host.plan(runId);
}

interface Start {
  readonly host: Host;
  readonly view: RunView;
  readonly runId: RunId;
  readonly plan: Plan;
  /** Absent: those that the host finds. */
  readonly secrets?: Readonly<Record<string, string>>;
}

/** The id is printed before the run exists, so that the user knows the name of every run. */
async function start({ host, view, runId, plan, secrets }: Start): Promise<void> {
  launched({ host, view }, runId, plan);
  if (plan.schedule !== undefined)
    view.notice(
      'the job has a schedule: this runs it once, now; "parley temporal schedule" lets it run by itself',
    );
  await orClose({ host, view }, () => host.startRun(runId, plan, secrets));
}

/** The same run, from a process without a terminal; what it needs was checked. */
function detachedArgs(file: string, runId: RunId, options: RunOptions): readonly string[] {
  const { only, limit, canary, concurrency, engine, config, inputs, input = [] } = options;
  const named = { only, limit, canary, concurrency, engine, config, inputs };
  const words = Object.entries(named).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value],
  );
  const values = input.flatMap((one) => ['--input', one]);
  const again = options.again === true ? ['--again'] : [];
  return ['run', file, '--run-id', runId, '--plain', '--no-preflight', ...again, ...words, ...values];
}

function parseCount(option: string, text: string | undefined): number | null {
  if (text === undefined) return null;
  const value = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (value >= 1 && value <= COUNT_MAX) return value;
  throw new CliError(`Cannot use ${option} "${text}": it is no whole number from 1 to ${COUNT_MAX}`);
}
