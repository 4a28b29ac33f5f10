/**
 * `parley agent-server`: the reference Agent Server by itself, as a program of its own.
 * Owns nothing but the start: arguments, signals and exit code are passed on.
 */
import { Command } from 'commander';
import { examples, type CommandContext } from '../command-context.ts';

export function agentServerCommand({ shell, ends }: CommandContext): Command {
  return new Command('agent-server')
    .description('Run the reference Agent Server alone; it is configured by its environment.')
    .argument('[arguments...]', 'handed to the program as they are')
    .allowUnknownOption()
    .addHelpText('after', '\nVariables are in docs/agent-server.md. Exit codes are those of the program.')
    .addHelpText('after', examples('PARLEY_AGENT_SOCKET=agent.sock parley agent-server'))
    .action(ends((args: readonly string[]) => shell.runProgram({ file: 'agent-server.cjs', args })));
}
