/**
 * `parley completion`: a script that completes commands and flags in a shell.
 * Owns the choice of the shell; what there is to complete comes from the commands themselves.
 */
import { Argument } from 'commander';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { openRuns } from '../../host/open-deployment.ts';
import { LAST } from '../open-run.ts';
import {
  type Completions,
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

/** `completions` loads every command, so it is called only when a script is printed. */
export const commandWith =
  (completions: () => Promise<Completions>) =>
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
        else shell.stdout.write(completionScript(name, await completions()));
      });
