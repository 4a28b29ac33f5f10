/**
 * `parley completion`: a script that completes commands and flags in a shell.
 * Owns the choice of the shell; what there is to complete comes from the commands themselves.
 */
import { Argument, Command } from 'commander';
import { examples, type CommandContext } from '../command-context.ts';
import {
  completionScript,
  SHELLS,
  type CompletionShell,
  type Completions,
} from '../print/completion-script.ts';
import { EXIT } from '../exit-code.ts';

/** `completions` loads every command, so it is called only when a script is printed. */
export const completionCommandOf =
  (completions: () => Promise<Completions>) =>
  ({ shell, finish }: CommandContext): Command =>
    new Command('completion')
      .description('Print a script that completes commands and flags in a shell.')
      .addArgument(new Argument('<shell>', 'which shell').choices(SHELLS))
      .addHelpText('after', '\nExit codes: 0 printed, 2 there is no such shell.')
      .addHelpText(
        'after',
        examples(
          'source <(parley completion bash)',
          'parley completion zsh > "${fpath[1]}/_parley"',
          'parley completion fish > ~/.config/fish/completions/parley.fish',
        ),
      )
      .action(async (name: CompletionShell) => {
        shell.stdout.write(completionScript(name, await completions()));
        finish(EXIT.ok);
      });
