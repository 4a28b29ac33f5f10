/**
 * `parley temporal versions`: the builds of the workers, which of them is current, and what is left on each.
 * Owns what is printed.
 */
import { Command } from 'commander';
import type { DeploymentBuilds } from '../../temporal/versioning/builds.ts';
import { examples, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openRecords } from '../../host/records.ts';
import { table } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { askServer, withServerOptions, type VersionFlags } from './versions-server.ts';

export function versionsCommand({ shell, finish }: CommandContext): Command {
  const command = new Command()
    .name('versions')
    .summary('list the builds of the workers')
    .description('List the builds of the workers: their status, and the open entities on each.');
  return withServerOptions(command)
    .addHelpText(
      'after',
      '\nExit codes: 0 listed, 2 the server cannot be used so, 4 it refuses the key, 5 it does not answer.',
    )
    .addHelpText('after', examples('parley temporal versions'))
    .action(async (flags: VersionFlags) => {
      finish(await list(shell, flags));
    });
}

async function list(shell: Shell, flags: VersionFlags): Promise<ExitCode> {
  const { findBuilds } = await import('../../temporal/versioning/builds.ts');
  const found = await askServer(shell, flags, async (server) => ({
    deployment: server.deployment,
    ...(await findBuilds(server, server.deployment)),
  }));
  if (flags.json === true) writeRecords(shell, found);
  else writeTable(shell, found);
  return EXIT.ok;
}

interface FoundBuilds extends DeploymentBuilds {
  readonly deployment: string;
}

function writeRecords({ stdout }: Shell, { deployment, builds }: FoundBuilds): void {
  const records = openRecords(stdout);
  for (const { buildId, status, createdAt, open } of builds) {
    const fields = { deployment, build_id: buildId, status, created_at: createdAt, open };
    records.write({ type: 'build', ...fields });
  }
}

function writeTable(shell: Shell, { deployment, current, builds }: FoundBuilds): void {
  if (builds.length === 0) {
    shell.stderr.write(`deployment ${deployment}: no worker with a version was ever seen\n`);
    return;
  }
  const columns = [
    { title: 'BUILD' },
    { title: 'STATUS' },
    { title: 'OPEN', side: 'right' },
    { title: 'SINCE' },
  ] as const;
  const rows = builds.map(({ buildId, status, open, createdAt }) => [
    buildId,
    status,
    String(open),
    new Date(createdAt).toISOString().replace(/\.\d+Z$/, 'Z'),
  ]);
  for (const line of table(columns, rows)) shell.stdout.write(`${line}\n`);
  if (current === null) {
    shell.stderr.write('no build is current, so none of them gets work: parley temporal promote BUILD\n');
  }
}
