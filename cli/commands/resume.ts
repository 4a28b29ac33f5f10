/**
 * `parley resume`: go on with a run that was drained, paused, left or killed, and take up what failed for passing reasons.
 * Owns which failures are taken up; everything unfinished goes on by itself as soon as a host is there.
 */
import type { PlanIssues } from '../../core/plan/plan-issue.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { FAILURE_CLASSES, type FailureClass } from '../../core/status.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type HostFlags } from '../command-context.ts';
import type { ExitCode } from '../../host/exit-code.ts';
import { noSuchRun, openDeployment } from '../../host/open-deployment.ts';
import { launched, openHostWithView, orClose } from '../open-host.ts';
import { parseRunId } from '../../host/run-id.ts';
import type { InputOptions } from '../job/given-inputs.ts';
import { loadPlan } from '../job/load-plan.ts';
import { readSettings, userName } from '../run-settings.ts';
import { type ReadStageRows, StagedRows, stageRows } from '../job/staged-rows.ts';
import { takeChanges } from '../take-changes.ts';
import { attend } from '../run-session.ts';
import { namedRun } from '../open-run.ts';
import type { Shell } from '../../host/shell.ts';

interface ResumeOptions extends InputOptions, HostFlags {
  readonly acceptChanges?: true;
  readonly class?: string;
  readonly set?: readonly string[];
}

/** Reasons that pass by themselves; an agent's own error, or a person's word, does not. */
const CLASSES_DEFAULT: readonly FailureClass[] = ['infra', 'rate_limited', 'quota', 'refused', 'timeout'];

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('resume')
    .description('Go on with a run, and take up what failed for passing reasons.')
    .argument('<run>', 'id of the run')
    .argument(
      '[file]',
      'the job file: what has changed in it since is told, and refused unless it is accepted',
    )
    .option('--class <list>', 'failure classes that are taken up, by commas', CLASSES_DEFAULT.join(','))
    .option('--set <key=value...>', 'settings that change: concurrency, rate, budget')
    .option('--accept-changes', 'with FILE: take up what a run can of what has changed')
    .shares('json', 'plain', 'engine', 'config', 'inputs')
    .says(`Failure classes: ${FAILURE_CLASSES.join(', ')}.`)
    .says('Exit codes: those of "parley run".')
    .examples(
      'parley resume first-batch-20261121t043105-9f3c',
      'parley resume first-batch-20261121t043105-9f3c --class infra,stuck',
      'parley resume first-batch-20261121t043105-9f3c job.yaml --accept-changes',
    )
    .action(
      ends((id: string, file: string | undefined, options: ResumeOptions) =>
        resume(shell, { id, file }, options),
      ),
    );
}

interface Asked {
  readonly id: string;
  readonly file: string | undefined;
}

async function resume(shell: Shell, { id, file }: Asked, options: ResumeOptions): Promise<ExitCode> {
  parseRunId(id);
  if (file === undefined && options.acceptChanges === true)
    throw new CliError('Cannot accept changes: no job file is named', {
      remedy: `name it: parley resume ${id} FILE --accept-changes`,
    });
  const classes = parseClasses(options.class ?? '');
  const settings = options.set === undefined ? null : readSettings(options.set);
  const { config: path, engine } = options;
  const config = await openDeployment(shell, { path, startsProxy: true, engine });
  const opened = await openHostWithView(shell, config, options);
  const { host, view } = opened;
  const by = userName(shell);
  const say = (text: string): void => view.notice(text);
  const begun = await orClose(opened, async () => {
    const { runId } = await namedRun(host, id);
    const planned = await host.plan(runId);
    if (planned === null) throw noSuchRun(id);
    const keptIssues = planned.issues ?? [];
    const compile = async (readStageRows: ReadStageRows): Promise<Plan | null> =>
      file === undefined ? null : await planOfFile(shell, { file, options, readStageRows, keptIssues });
    const rows = await stageRows({ plan: planned, results: host.results, runId });
    const job = file === undefined ? null : required(file, await compile(rows));
    const requestId = `resume-${shell.randomHex(16)}`;
    const accepts = options.acceptChanges === true;
    const plan =
      job === null ? planned : await takeChanges({ host, runId, planned, job, accepts, by, requestId, say });
    launched(opened, runId, plan);
    if (settings !== null)
      await host.tellRun(runId, { type: 'settingsChanged', requestId: `${requestId}-set`, by, settings });
    await host.tellRun(runId, { type: 'resumeRequested', requestId, by, classes });
    const newId = (): string => `stage-${shell.randomHex(16)}`;
    const staged =
      file === undefined ? undefined : new StagedRows({ host, runId, plan, compile, by, say, newId });
    return { runId, plan, staged };
  });
  return await attend({ shell, host, view, ...begun, json: options.json === true });
}

interface JobOfRun {
  readonly file: string;
  readonly options: ResumeOptions;
  readonly readStageRows: ReadStageRows;
  readonly keptIssues: readonly PlanIssues[];
}

/** Null when the job has errors, which are printed. */
async function planOfFile(
  shell: Shell,
  { file, options, readStageRows, keptIssues }: JobOfRun,
): Promise<Plan | null> {
  const request = { file, config: options.config, checksSecrets: false, inputs: options };
  return await loadPlan(shell, { ...request, readStageRows, keptIssues: () => Promise.resolve(keptIssues) });
}

/** @throws CliError when the job has errors */
function required(file: string, plan: Plan | null): Plan {
  if (plan !== null) return plan;
  throw new CliError(`Cannot go on with "${file}": the job has errors`, {
    remedy: 'correct them, or resume without the file',
  });
}

function parseClasses(text: string): readonly FailureClass[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const unknown = words.find((word) => !FAILURE_CLASSES.some((one) => one === word));
  if (unknown === undefined) return words as FailureClass[];
  throw new CliError(`Cannot use --class "${unknown}": there is no such failure class`, {
    remedy: `write ${FAILURE_CLASSES.join(', ')}`,
  });
}
