/**
 * How a command ends that could not do its work: one sentence, a remedy, an exit code, never a stack trace.
 * Owns the choice between a user's error and a bug; must not exit.
 */
import { asParleyError } from '../core/parley-error.ts';
import type { ErrorCode } from '../core/error-catalogue.ts';
import { CliError } from '../host/cli-error.ts';
import { writeCrashReport } from './crash-report.ts';
import { EXIT, exitCodeOfError, type ExitCode } from '../host/exit-code.ts';
import { remedyOfMissing } from './missing-part.ts';
import { openRecords } from '../host/records.ts';
import { printable } from '../host/terminal-text.ts';
import type { Shell } from '../host/shell.ts';

export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly remedy: string | null;
  readonly exitCode: ExitCode;
}

/** Prints the failure to standard error, with `json` also as a record; returns the exit code. */
export function endWithError(
  error: unknown,
  context: { readonly shell: Shell; readonly command: string; readonly json: boolean },
): ExitCode {
  const failure = failureOf(error, context);
  const { stdout, stderr } = context.shell;
  if (context.json) {
    const { code, message, remedy, exitCode } = failure;
    openRecords(stdout).write({ type: 'error', code, message, remedy, exit_code: exitCode });
  }
  const remedy = failure.remedy === null ? '' : `  = ${failure.remedy}\n`;
  stderr.write(`parley: ${printable(failure.message)}\n${remedy}`);
  return failure.exitCode;
}

function failureOf(error: unknown, context: { readonly shell: Shell; readonly command: string }): Failure {
  if (error instanceof CliError) {
    return { code: 'usage', message: error.message, remedy: error.remedy, exitCode: error.exitCode };
  }
  const told = asParleyError(error);
  const exitCode = exitCodeOfError(told.code);
  if (exitCode !== EXIT.internal) {
    const { code, message } = told;
    const remedy = remedyOfMissing(told, () => context.shell.programDir) ?? told.remedy ?? remedyOf(code);
    return { code, message, remedy, exitCode };
  }
  const report = writeCrashReport(error, context);
  const message = 'Cannot go on: this is a bug in Parley';
  return { code: 'internal', message, remedy: `the report is ${report}`, exitCode: EXIT.internal };
}

function remedyOf(code: ErrorCode): string {
  switch (code) {
    case 'data_directory_locked':
      return 'look at it with "parley status", stop a run with "parley cancel", or name another store.path';
    case 'config_invalid':
      return 'check it with "parley config check"';
    case 'export_unavailable':
      return 'give the rows as a file: parley reconcile RUN --rows FILE';
    default:
      return `parley explain ${code} tells more`;
  }
}
