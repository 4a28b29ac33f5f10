/**
 * `parley scripted-gateway`: the stand-in for the model vendor, as a program of its own.
 * Owns nothing but the start: arguments, signals and exit code are passed on.
 */
import { CliCommand, type CommandContext } from '../command-context.ts';

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('scripted-gateway')
    .description('Run the scripted gateway: it answers from a script and bills made-up prices.')
    .argument('<arguments...>', 'script and flags, handed to the program as they are')
    .allowUnknownOption()
    .says('Flags are in docs/scripted-gateway.md. Exit codes are those of the program.')
    .examples('parley scripted-gateway gateway.yaml --port 4000')
    .action(ends((args: readonly string[]) => shell.runProgram({ file: 'scripted-gateway.js', args })));
}
