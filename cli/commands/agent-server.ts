/**
 * `parley agent-server`: the reference Agent Server by itself, as a program of its own.
 * Owns nothing but the start: arguments, signals and exit code are passed on.
 */
import { CliCommand, type CommandContext } from '../command-context.ts';

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('agent-server')
    .description('Run the reference Agent Server alone; it is configured by its environment.')
    .argument('[arguments...]', 'handed to the program as they are')
    .allowUnknownOption()
    .says('Variables are in docs/agent-server.md. Exit codes are those of the program.')
    .examples('PARLEY_AGENT_SOCKET=agent.sock parley agent-server')
    .action(ends((args: readonly string[]) => shell.runProgram({ file: 'agent-server.cjs', args })));
}
