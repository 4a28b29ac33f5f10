/**
 * `parley temporal promote`: one build of the workers becomes the current one.
 * Owns what is printed.
 */
import { Command } from 'commander';
import { examples, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openRecords } from '../../host/records.ts';
import { printable } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';
import { askServer, withServerOptions, type VersionFlags } from './versions-server.ts';

export function promoteCommand({ shell, finish }: CommandContext): Command {
  const command = new Command()
    .name('promote')
    .summary('make a build of the workers the current one')
    .description('Make a build the current one: everything that begins, begins on it.')
    .argument('<build>', 'build id, as "parley temporal versions" prints it');
  return withServerOptions(command)
    .addHelpText(
      'after',
      '\nExit codes: 0 it is current, 2 it cannot be promoted, 4 the server refuses the key, 5 it does not answer.',
    )
    .addHelpText('after', examples('parley temporal promote 1.2.0-3fb2a91c07de'))
    .action(async (buildId: string, flags: VersionFlags) => {
      finish(await promoteBuild(shell, buildId, flags));
    });
}

async function promoteBuild(shell: Shell, buildId: string, flags: VersionFlags): Promise<ExitCode> {
  const { json } = flags;
  const { promote } = await import('../../temporal/versioning/promote.ts');
  const done = await askServer(shell, flags, async (server) => ({
    deployment: server.deployment,
    ...(await promote(server, { deployment: server.deployment, buildId })),
  }));
  if (json === true) {
    const fields = {
      deployment: done.deployment,
      build_id: buildId,
      previous: done.previous,
      changed: done.changed,
    };
    openRecords(shell.stdout).write({ type: 'promoted', ...fields });
    return EXIT.ok;
  }
  const before = done.previous === null ? 'before it, none was' : `before it, ${done.previous} was`;
  const text = done.changed ? `build ${buildId}: current now; ${before}` : `build ${buildId}: was current`;
  shell.stdout.write(`${printable(text)}\n`);
  if (done.changed && done.previous !== null) {
    shell.stderr.write(`${printable(`to move what is open: parley temporal drain ${done.previous}`)}\n`);
  }
  return EXIT.ok;
}
