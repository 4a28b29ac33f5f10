/**
 * The check of what a job needs, before a run of it begins.
 * Owns what is printed of it and that a run which cannot succeed is not begun.
 */
import type { Plan } from '../../core/plan/plan.ts';
import { CliError } from '../cli-error.ts';
import type { DeploymentConfig } from '../config/deployment-config.ts';
import { printFinding, type Finding } from '../finding.ts';
import { openRecords } from '../records.ts';
import type { Shell } from '../shell.ts';

export interface PreflightContext {
  readonly config: DeploymentConfig;
  readonly plan: Plan;
  /** As it was typed. */
  readonly file: string;
  readonly json: boolean;
}

/** More of one kind say nothing new to a person; records have all of them. */
const SHOWN_MAX = 20;

/** Says nothing when all is well. @throws CliError when the run cannot succeed */
export async function preflightRun(
  shell: Shell,
  { config, plan, file, json }: PreflightContext,
): Promise<void> {
  const port = await shell.hostPort();
  const findings = await port.preflight(config, plan);
  const told = findings.filter(({ status }) => status !== 'ok');
  if (json && told.length > 0) {
    const records = openRecords(shell.stdout);
    for (const finding of told) records.write({ type: 'check', ...finding });
  }
  for (const line of shownLines(told)) shell.stderr.write(line);
  const count = told.filter(({ status }) => status === 'failed').length;
  if (count === 0) return;
  const things = count === 1 ? 'one thing that it needs is' : `${count} things that it needs are`;
  throw new CliError(`Cannot run "${file}": ${things} not there`, {
    remedy: 'correct this; nothing was started, and --no-preflight starts without looking',
  });
}

/** One line for each finding, worst first, and one for what is left out. */
export function shownLines(findings: readonly Finding[]): readonly string[] {
  const worst = [...findings].sort((a, b) => rank(a) - rank(b));
  const left = worst.length - SHOWN_MAX;
  const lines = worst.slice(0, SHOWN_MAX).map(printFinding);
  return left > 0 ? [...lines, `and ${left} more; --json has all\n`] : lines;
}

function rank({ status }: Finding): number {
  return status === 'failed' ? 0 : 1;
}
