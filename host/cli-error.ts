/**
 * An end of a command that is the user's to solve: a sentence, a remedy, an exit code.
 * Owns the carrier; errors of the catalogue are ParleyErrors and stay so.
 */
import { EXIT, type ExitCode } from './exit-code.ts';

export class CliError extends Error {
  readonly exitCode: ExitCode;
  /** What to type or change; null when the message says it all. */
  readonly remedy: string | null;

  constructor(message: string, options: { readonly exitCode?: ExitCode; readonly remedy?: string } = {}) {
    super(message);
    this.name = 'CliError';
    this.exitCode = options.exitCode ?? EXIT.usage;
    this.remedy = options.remedy ?? null;
  }
}
