/**
 * `parley scripted-gateway`: the stand-in for the model vendor, as a program of its own.
 * Owns nothing but the start: arguments, signals and exit code are passed on.
 */
import { Command } from 'commander';
import { examples, type CommandContext } from '../command-context.ts';

export function scriptedGatewayCommand({ shell, ends }: CommandContext): Command {
  return new Command('scripted-gateway')
    .description('Run the scripted gateway: it answers from a script and bills made-up prices.')
    .argument('<arguments...>', 'script and flags, handed to the program as they are')
    .allowUnknownOption()
    .addHelpText('after', '\nFlags are in docs/scripted-gateway.md. Exit codes are those of the program.')
    .addHelpText('after', examples('parley scripted-gateway gateway.yaml --port 4000'))
    .action(ends((args: readonly string[]) => shell.runProgram({ file: 'scripted-gateway.js', args })));
}
