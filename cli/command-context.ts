/**
 * What a command is given, and what several commands declare.
 * Owns the one spelling of shared options and of what stands below a help; must not load anything.
 */
import { Command, Option } from 'commander';
import type { EngineKind } from '../host/config/deployment-config.ts';
import type { ExitCode } from '../host/exit-code.ts';
import type { Shell } from '../host/shell.ts';

export interface CommandContext {
  readonly shell: Shell;
  /** The action of a command: its result is the exit code of the process. */
  ends<Args extends readonly unknown[]>(
    work: (...args: Args) => ExitCode | number | Promise<ExitCode | number>,
  ): (...args: Args) => Promise<void>;
}

/** The options of `shares('json', 'config')`. */
export interface Flags {
  readonly json?: true;
  readonly config?: string;
}

/** What `shares('plain', 'engine')` adds: a command that has a host of its own and shows a run. */
export interface HostFlags extends Flags {
  readonly plain?: true;
  readonly engine?: EngineKind;
}

/** Where `shares('server')` reads the key when `--api-key` is not given. */
export const API_KEY_VARIABLE = 'PARLEY_API_KEY';

/** Where `parley temporal dev` and the tools of Temporal listen. */
export const TEMPORAL_ADDRESS = '127.0.0.1:7233';

const ENGINES: readonly EngineKind[] = ['embedded', 'temporal'];

const SHARED = {
  config: () => [new Option('--config <file>', 'deployment to use (default: parley.yaml, found upward)')],
  engine: () => [new Option('--engine <kind>', 'engine to use, instead of engine.kind').choices(ENGINES)],
  json: () => [new Option('--json', 'print JSON Lines to standard output')],
  plain: () => [new Option('--plain', 'print lines instead of a live table')],
  inputs: () => [
    new Option('--input <name=value>', 'value for an input of the job; may be given again').argParser(
      collected,
    ),
    new Option('--inputs <file>', 'values for inputs: a map as YAML or JSON'),
  ],
  address: () => [
    new Option('--address <host:port>', `Temporal server (default: engine.address, or ${TEMPORAL_ADDRESS})`),
  ],
  namespace: () => [new Option('--namespace <name>', 'namespace (default: engine.namespace)')],
  server: () => [
    new Option('--server <url>', 'service that has the run, instead of a deployment of this machine'),
    new Option(
      '--api-key <where>',
      `with --server: env:NAME or file:PATH (default: env:${API_KEY_VARIABLE})`,
    ),
  ],
} as const satisfies Readonly<Record<string, () => readonly Option[]>>;

/** A command of commander, with what all of ours have. */
export class CliCommand extends Command {
  /** Options that other commands have, too, in this order. */
  shares(...names: readonly (keyof typeof SHARED)[]): this {
    for (const option of names.flatMap((name): readonly Option[] => SHARED[name]())) this.addOption(option);
    return this;
  }

  /** Below the options, each as a paragraph. */
  says(...paragraphs: readonly string[]): this {
    for (const text of paragraphs) this.addHelpText('after', `\n${text}`);
    return this;
  }

  /** Examples, one a line. */
  examples(...lines: readonly string[]): this {
    return this.says(`Examples:\n${lines.map((line) => `  $ ${line}`).join('\n')}\n`);
  }
}

/** Parses an option that may be given again. */
export function collected(text: string, before: readonly string[] = []): readonly string[] {
  return [...before, text];
}
