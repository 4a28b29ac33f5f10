/**
 * What can be completed after each command, read from the definitions of the commands.
 * Owns the reading; must not run one.
 */
import type { Argument, Command, Option } from 'commander';
import type { CompletedCommand, CompletedFlag, Completions } from './print/completion-script.ts';

export function completionsOf(commands: readonly Command[]): Completions {
  return commands.map(completed);
}

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
    words: [...command.commands.map((below) => below.name()), ...wordsOf(first)],
    takesRun: first?.name() === 'run',
    flags: [...flags.values()],
  };
}

function wordsOf(argument: Argument | undefined): readonly string[] {
  return argument?.argChoices ?? [];
}

function flagsOf({ long, short, description, argChoices }: Option): readonly CompletedFlag[] {
  const names = [long, short].filter((name): name is string => typeof name === 'string');
  return names.map((name) => ({ name, description, choices: argChoices ?? [] }));
}
