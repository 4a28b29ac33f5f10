/**
 * `parley temporal restored`: what the store remembers beyond histories that were set back is forgotten.
 * Owns the guards: an owner of the data directory refuses it, and nothing is forgotten without --yes.
 */
import { addressFromKey, type EntityAddress, type MachineName } from '../../core/ids.ts';
import type { JournalHeld } from '../../ports/journal.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { writeAnswer } from '../../host/records.ts';
import type { Shell } from '../../host/shell.ts';

interface RestoredFlags extends Flags {
  readonly all?: true;
  readonly yes?: true;
}

/** The machines that have workflows. */
const MACHINES: Readonly<Record<MachineName, true>> = {
  sandbox: true,
  conversation: true,
  run: true,
  shard: true,
};

export function restoredCommand({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('restored')
    .summary('go on after workflows were reset or restored')
    .description(
      'Forget the batches that the store remembers of workflows which were reset, or whose database was restored, to an' +
        ' earlier point.',
    )
    .argument('[workflow]', 'the workflow that was reset, as sandbox/ID, conversation/ID, run/ID or shard/ID')
    .option('--all', 'every workflow: the database of Temporal was restored')
    .option('--yes', 'do it; otherwise it is only said what would be forgotten')
    .shares('json', 'config')
    .says(
      'Stop the workers first. Exit codes: 0 forgotten, 2 it cannot be done so, 3 nothing was done because --yes is' +
        '\nmissing, 5 another process owns the data directory.',
    )
    .examples('parley temporal restored --all --yes')
    .action(ends((workflow: string | undefined, flags: RestoredFlags) => restored(shell, workflow, flags)));
}

async function restored(shell: Shell, workflow: string | undefined, flags: RestoredFlags): Promise<ExitCode> {
  const entity = whoIsMeant(workflow, flags);
  const config = await openDeployment(shell, { path: flags.config, startsProxy: false });
  const { dataDir } = config;
  const { hasStore, openEngineStore } = await import('../../host/follow/config-store.ts');
  if (!hasStore(config)) {
    throw new CliError(`Cannot empty the journal: there is no store in "${dataDir}"`, {
      remedy: 'run it on the machine that owns the data directory, with its configuration',
    });
  }
  const { lockDataDirectory } = await import('../../store/engine/data-directory-lock.ts');
  // The owner of the lock might be writing the very batches that are forgotten here.
  const lock = lockDataDirectory(dataDir, { startedAt: shell.clock.now() });
  try {
    // Alone, so that no worker of the same database is writing them either.
    const { store, close } = await openEngineStore(config, { isAlone: true, onLost: () => undefined });
    try {
      const isMeant = flags.yes === true;
      say(shell, flags, await (isMeant ? store.journal.forget(entity) : store.journal.held(entity)));
      return isMeant ? EXIT.ok : EXIT.incomplete;
    } finally {
      await close();
    }
  } finally {
    lock.release();
  }
}

/** Null: all. */
function whoIsMeant(workflow: string | undefined, { all }: RestoredFlags): EntityAddress | null {
  if ((workflow === undefined) === (all === undefined))
    throw new CliError('Cannot empty the journal: name either a workflow or --all');
  if (workflow === undefined) return null;
  const address = addressFromKey(workflow);
  if (Object.hasOwn(MACHINES, address.machine) && address.id !== '') return address;
  throw new CliError(`Cannot empty the journal of "${workflow}": it is no workflow of an entity`, {
    remedy: 'name it as the web UI does, for example conversation/0b5e…',
  });
}

function say(shell: Shell, { yes, json }: RestoredFlags, { entities, entries }: JournalHeld): void {
  const forgotten = yes === true;
  const what = `${entries} batches of ${entities} workflows`;
  const text = forgotten ? `forgotten: ${what}` : `would be forgotten: ${what}; add --yes to do it`;
  const records = [{ type: 'journal_emptied', forgotten, entities, entries }];
  writeAnswer(shell.stdout, { json }, { records, lines: [text] });
}
