/**
 * `parley collect`: where a run's results are, and once more what is missing of them.
 * Owns what it says when an engine is at work: then results come by themselves.
 */
import { ParleyError } from '../../core/parley-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { writeAnswer } from '../../host/records.ts';
import { openRun } from '../open-run.ts';
import type { ServerOptions } from '../server/server-address.ts';
import type { Shell } from '../../host/shell.ts';
import { printable } from '../../host/terminal-text.ts';
import { withDesk } from '../with-host.ts';

type CollectOptions = ServerOptions & Flags;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('collect')
    .description("Say where a run's results are, and collect what is missing as far as stored events allow.")
    .argument('<run>', 'id of the run')
    .shares('json', 'config', 'server')
    .says(
      'Exit codes: 0 collected, 2 there is no such run, 5 the service, or the owner of the data directory, cannot be\nreached.',
    )
    .examples('parley collect first-batch-20261121t043105-9f3c')
    .action(ends((id: string, options: CollectOptions) => collect(shell, id, options)));
}

async function collect(shell: Shell, id: string, options: CollectOptions): Promise<ExitCode> {
  const { reader, row, from } = await openRun(shell, { id, ...options });
  const { runId } = row;
  const { results } = reader;
  const [location, folder] = [results.location(runId), results.folder(runId)];
  try {
    const made =
      from.kind === 'server'
        ? await from.host.collect(runId)
        : await withDesk(shell, { id: runId, config: options.config }, (host) => host.collect(runId));
    // What lives elsewhere is copied, all of it: what was missing is there now.
    const copies = location === folder ? { files: made, left: [] } : await results.fetch(runId, () => true);
    for (const name of copies.left) shell.stderr.write(`not copied to ${folder}: ${printable(name)}\n`);
    const { files } = copies;
    const records = [{ type: 'collected', run_id: runId, results: folder, files }];
    writeAnswer(shell.stdout, options, { records, lines: [`results: ${folder}`, ...files] });
    return EXIT.ok;
  } catch (error) {
    if (error instanceof ParleyError && error.code === 'data_directory_locked') {
      shell.stderr.write(`results: ${location}\n`);
    }
    throw error;
  } finally {
    await reader.close();
  }
}
