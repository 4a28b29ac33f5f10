/**
 * What a command is given, and the options that several commands share.
 * Owns their one spelling; must not load anything.
 */
import { Option } from 'commander';
import type { EngineKind } from '../host/config/deployment-config.ts';
import type { ExitCode } from '../host/exit-code.ts';
import type { Shell } from '../host/shell.ts';

export interface CommandContext {
  readonly shell: Shell;
  /** The action of a command: what it comes to is the exit code of the process. */
  ends<Args extends readonly unknown[]>(
    work: (...args: Args) => ExitCode | number | Promise<ExitCode | number>,
  ): (...args: Args) => Promise<void>;
}

/** What `configOption` and `jsonOption` come to. */
export interface Flags {
  readonly json?: true;
  readonly config?: string;
}

export function configOption(): Option {
  return new Option('--config <file>', 'deployment to use (default: parley.yaml, found upward)');
}

export function engineOption(): Option {
  const kinds: readonly EngineKind[] = ['embedded', 'temporal'];
  return new Option('--engine <kind>', 'engine to use, instead of engine.kind').choices(kinds);
}

export function jsonOption(): Option {
  return new Option('--json', 'print JSON Lines to standard output');
}

export function plainOption(): Option {
  return new Option('--plain', 'print lines instead of a live table');
}

/** Examples under the help of a command, one a line. */
export function examples(...lines: readonly string[]): string {
  return `\nExamples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`;
}
