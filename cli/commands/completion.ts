/**
 * `parley completion`: a script that completes commands and flags in a shell.
 * Owns the choice of the shell; what there is to complete comes from the commands themselves.
 */
import { Argument, type Command, type Option } from 'commander';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { openRuns } from '../../host/open-deployment.ts';
import { LAST } from '../open-run.ts';
import {
  type CompletedCommand,
  type CompletedFlag,
  completionScript,
  type CompletionShell,
  RUNS,
  SHELLS,
} from '../print/completion-script.ts';
import type { Shell } from '../../host/shell.ts';

/** As many as a person reads through. */
const RUNS_SHOWN_MAX = 50;

/** The newest first; none where there is no store, since no user reads an error while typing. */
async function runIds(shell: Shell): Promise<readonly string[]> {
  const opened = await openRuns(shell, undefined).catch(() => null);
  if (opened === null) return [];
  try {
    const rows = await opened.reader.runs();
    return [...(rows.length === 0 ? [] : [LAST]), ...rows.slice(0, RUNS_SHOWN_MAX).map(({ runId }) => runId)];
  } catch {
    return [];
  } finally {
    await opened.reader.close();
  }
}

/** `commands` loads every one of them, so it is called only when a script is printed. None of them is run. */
export const commandWith =
  (commands: () => Promise<readonly Command[]>) =>
  ({ shell }: CommandContext): CliCommand =>
    new CliCommand('completion')
      .description('Print a script that completes commands and flags in a shell.')
      .addArgument(
        new Argument('<shell>', `which shell; "${RUNS}" lists what the scripts offer for a run`).choices([
          ...SHELLS,
          RUNS,
        ]),
      )
      .says('Exit codes: 0 printed, 2 there is no such shell.')
      .examples(
        'source <(parley completion bash)',
        'parley completion zsh > "${fpath[1]}/_parley"',
        'parley completion fish > ~/.config/fish/completions/parley.fish',
      )
      .action(async (name: CompletionShell | typeof RUNS) => {
        if (name === RUNS) for (const id of await runIds(shell)) shell.stdout.write(`${id}\n`);
        else shell.stdout.write(completionScript(name, (await commands()).map(completed)));
      });

/** Flags of commands below are those of the command: which of them was typed is not looked at. */
function completed(command: Command): CompletedCommand {
  const all = [command, ...command.commands];
  const flags = new Map<string, CompletedFlag>();
  for (const option of all.flatMap(({ options }) => options))
    for (const flag of flagsOf(option)) if (!flags.has(flag.name)) flags.set(flag.name, flag);
  flags.set('--help', { name: '--help', description: 'print help', choices: [] });
  const first = command.registeredArguments[0];
  return {
    name: command.name(),
    summary: command.summary(),
    words: [...command.commands.map((below) => below.name()), ...(first?.argChoices ?? [])],
    takesRun: first?.name() === 'run',
    flags: [...flags.values()],
  };
}

function flagsOf({ long, short, description, argChoices }: Option): readonly CompletedFlag[] {
  const names = [long, short].filter((name): name is string => typeof name === 'string');
  return names.map((name) => ({ name, description, choices: argChoices ?? [] }));
}
