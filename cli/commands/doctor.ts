/**
 * `parley doctor`: whether this machine can run jobs, or this one job, and what to do where it cannot.
 * Owns the list that is printed; the checks are in doctor-checks.ts and below preflight/.
 */
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { loadDeployment, type LoadedDeployment } from '../../host/config/load-deployment.ts';
import { checkMachine, checkModelList } from '../doctor/doctor-checks.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { failed, type Finding, printFinding } from '../../host/finding.ts';
import type { InputOptions } from '../job/given-inputs.ts';
import { loadPlan } from '../job/load-plan.ts';
import { checkPlaces } from '../../host/preflight/check-places.ts';
import { openRecords } from '../../host/records.ts';
import type { Shell } from '../../host/shell.ts';

type DoctorOptions = InputOptions & Flags;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('doctor')
    .description(
      'Check whether this machine can run jobs, or a job of yours, with a remedy for what it lacks.',
    )
    .argument('[job]', 'job file, or a saved plan: also asks its gateways and reads its repositories')
    .shares('json', 'config', 'inputs')
    .says('Exit codes: 0 nothing required is missing, 1 something is.')
    .examples('parley doctor', 'parley doctor job.yaml', 'parley doctor --config deploy/parley.yaml')
    .action(ends((job: string | undefined, options: DoctorOptions) => doctor(shell, job ?? null, options)));
}

async function doctor(shell: Shell, job: string | null, options: DoctorOptions): Promise<ExitCode> {
  const { cwd, env } = shell;
  const loaded = await loadDeployment({ path: options.config ?? null, cwd, env });
  const findings = [
    ...(await checkMachine(shell, loaded)),
    ...(job === null ? await checkAnyJob(loaded) : await checkJob(shell, { job, loaded, options })),
  ];
  if (options.json === true) {
    const records = openRecords(shell.stdout);
    for (const finding of findings) records.write({ type: 'check', ...finding });
  } else {
    for (const finding of findings) shell.stdout.write(printFinding(finding));
  }
  return findings.some(({ status }) => status === 'failed') ? EXIT.failed : EXIT.ok;
}

async function checkAnyJob({ config }: LoadedDeployment): Promise<readonly Finding[]> {
  return config === null ? [] : [...(await checkPlaces(config)), checkModelList(config)];
}

interface JobCheck {
  readonly job: string;
  readonly loaded: LoadedDeployment;
  readonly options: DoctorOptions;
}

/** A configuration with errors is looked at first: what a job needs of it would be one error twice. */
async function checkJob(shell: Shell, { job, loaded, options }: JobCheck): Promise<readonly Finding[]> {
  const { config, problems } = loaded;
  const plan = await loadPlan(shell, {
    file: job,
    config: options.config,
    checksSecrets: false,
    inputs: options,
  });
  if (plan === null)
    return [failed('job', `"${job}" has errors`, 'correct them; "parley validate" shows them')];
  if (config === null || problems.some(({ severity }) => severity === 'error')) return [];
  const port = await shell.hostPort();
  return await port.preflight(config, plan);
}
