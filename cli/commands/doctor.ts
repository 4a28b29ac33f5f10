/**
 * `parley doctor`: whether this machine can run jobs, and what to do where it cannot.
 * Owns the list that is printed; the checks are in doctor-checks.ts.
 */
import { Command } from 'commander';
import { configOption, examples, jsonOption, type CommandContext } from '../command-context.ts';
import { loadDeployment } from '../config/load-deployment.ts';
import { runChecks } from '../doctor-checks.ts';
import type { Finding } from '../doctor-finding.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { openRecords } from '../print/records.ts';
import { padded, printable } from '../print/terminal-text.ts';
import type { Shell } from '../shell.ts';

interface DoctorOptions {
  readonly json?: true;
  readonly config?: string;
}

export function doctorCommand({ shell, finish }: CommandContext): Command {
  return new Command('doctor')
    .description('Check whether this machine can run jobs, with a remedy for what it lacks.')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', '\nExit codes: 0 nothing required is missing, 1 something is.')
    .addHelpText('after', examples('parley doctor', 'parley doctor --config deploy/parley.yaml'))
    .action(async (options: DoctorOptions) => {
      finish(await doctor(shell, options));
    });
}

async function doctor(shell: Shell, options: DoctorOptions): Promise<ExitCode> {
  const { cwd, env } = shell;
  const loaded = await loadDeployment({ path: options.config ?? null, cwd, env });
  const findings = await runChecks(shell, loaded);
  if (options.json === true) {
    const records = openRecords(shell.stdout);
    for (const finding of findings) records.write({ type: 'check', ...finding });
  } else {
    for (const finding of findings) shell.stdout.write(describe(finding));
  }
  return findings.some(({ status }) => status === 'failed') ? EXIT.failed : EXIT.ok;
}

function describe({ status, check, detail, remedy }: Finding): string {
  const line = `${padded(status, 7, 'left')}  ${padded(check, 14, 'left')}  ${printable(detail)}\n`;
  return remedy === null ? line : `${line}         = ${remedy}\n`;
}
