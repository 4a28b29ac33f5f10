/**
 * `parley config`: what is wrong with the deployment, and where every effective value comes from.
 * Owns the two listings; values of keys and tokens are never printed (D20).
 */
import { Argument } from 'commander';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { explainDeployment } from '../../host/config/explain-deployment.ts';
import { showPath } from '../../host/config/deployment-file.ts';
import { loadDeployment, type LoadedDeployment } from '../../host/config/load-deployment.ts';
import { printProblems } from '../../host/config/print-problems.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openRecords, writeAnswer } from '../../host/records.ts';
import { printable, table } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('config')
    .description('Check parley.yaml, or explain every effective value with its origin.')
    .addArgument(new Argument('<action>', 'what to do').choices(['check', 'explain']))
    .shares('json', 'config')
    .says('Exit codes: 0 no errors, 1 errors.')
    .examples('parley config check', 'PARLEY_IDLE_TIME=60 parley config explain')
    .action(
      ends(async (action: 'check' | 'explain', options: Flags) => {
        const { cwd, env } = shell;
        const loaded = await loadDeployment({ path: options.config ?? null, cwd, env });
        if (action === 'check') return check(shell, loaded, options);
        return explain(shell, await withShared(shell, loaded, options), options);
      }),
    );
}

function check(shell: Shell, loaded: LoadedDeployment, options: Flags): ExitCode {
  const { problems } = loaded;
  if (options.json === true) {
    const records = openRecords(shell.stdout);
    for (const problem of problems) records.write({ type: 'problem', ...problem });
  } else {
    shell.stdout.write(printable(printProblems(problems, loaded.file)));
    if (!hasErrors(loaded)) shell.stdout.write(`${nameOf(shell, loaded)}: ok\n`);
  }
  return hasErrors(loaded) ? EXIT.failed : EXIT.ok;
}

/** As a process that shares a database goes by it. The file alone is explained where the database cannot be asked. */
async function withShared(shell: Shell, loaded: LoadedDeployment, options: Flags): Promise<LoadedDeployment> {
  const { config } = loaded;
  if (config?.store.kind !== 'postgres' || config.engine.kind !== 'temporal') return loaded;
  try {
    const { readDeployedStore } = await import('../../host/follow/config-store.ts');
    const store = await readDeployedStore(config);
    if (store === null) return loaded;
    const shared = await store.configuration.newest().finally(() => store.close());
    const { cwd, env } = shell;
    return await loadDeployment({ path: options.config ?? null, cwd, env, shared });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    shell.stderr.write(printable(`only the file is explained: ${why}\n`));
    return loaded;
  }
}

function explain(shell: Shell, loaded: LoadedDeployment, options: Flags): ExitCode {
  shell.stderr.write(printable(printProblems(loaded.problems, loaded.file)));
  const lines = explainDeployment(loaded, shell.env);
  const rows = lines.map(({ path, value, origin }) => [path, String(value), origin]);
  const columns = [{ title: 'key' }, { title: 'value', widthMax: 80 }, { title: 'origin' }];
  writeAnswer(shell.stdout, options, {
    records: lines.map(({ path, value, origin }) => ({ type: 'setting', path, value, origin })),
    lines: table(columns, rows),
  });
  return hasErrors(loaded) ? EXIT.failed : EXIT.ok;
}

function hasErrors({ problems }: LoadedDeployment): boolean {
  return problems.some(({ severity }) => severity === 'error');
}

function nameOf({ cwd }: Shell, { file }: LoadedDeployment): string {
  return file === null ? 'defaults, because there is no parley.yaml' : showPath(file.path, cwd);
}
