/**
 * `parley archive`: the internal copies of workspaces, for operators.
 * Owns the listings; the archives themselves are read in host/sandboxes/archives.ts.
 */
import path from 'node:path';
import { sandboxId, type SandboxId } from '../../core/ids.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { ArchiveRecord } from '../../ports/record-store.ts';
import type { ArchiveCheck, Archives } from '../../host/sandboxes/archives.ts';
import { openDeployment } from '../../host/open-deployment.ts';
import { instant } from '../../core/text/amounts.ts';
import { type JsonRecord, openRecords, writeAnswer } from '../../host/records.ts';
import { table } from '../../host/terminal-text.ts';
import type { Shell } from '../../host/shell.ts';

const SANDBOX_ID = /^[0-9a-f]{32}$/;

export function command({ shell, ends }: CommandContext): CliCommand {
  const sub = (name: string, description: string): CliCommand =>
    new CliCommand(name).description(description).shares('json', 'config');
  const reads = (work: (shell: Shell, request: Request) => Promise<ExitCode>) =>
    ends((id: string | undefined, options: Flags) =>
      withArchives(shell, options, (archives) => work(shell, { archives, id, options })),
    );
  return new CliCommand('archive')
    .description('List, check and unpack the archives of removed sandboxes.')
    .examples('parley archive list', 'parley archive verify')
    .addCommand(
      sub('list', 'List the archives.')
        .argument('[sandbox]', 'id of a sandbox (default: all)')
        .action(reads(listAll)),
    )
    .addCommand(
      sub('verify', 'Read every archive and compare its checksum.')
        .argument('[sandbox]', 'id of a sandbox (default: all)')
        .says('Exit codes: 0 all are whole, 1 one is not.')
        .action(reads(verify)),
    )
    .addCommand(
      sub('restore', 'Unpack the newest archive of a sandbox into an empty folder.')
        .argument('<sandbox>', 'id of the sandbox')
        .argument('<folder>', 'folder that is made, and must be empty')
        .action(
          ends((id: string, folder: string, options: Flags) =>
            withArchives(shell, options, (archives) => restore(shell, { archives, id, folder, options })),
          ),
        ),
    );
}

interface Request {
  readonly archives: Archives;
  readonly id: string | undefined;
  readonly options: Flags;
}

async function listAll(shell: Shell, { archives, id, options }: Request): Promise<ExitCode> {
  const entries = await archives.entries(parseSandbox(id));
  const columns = [
    { title: 'SANDBOX' },
    { title: 'GEN', side: 'right' },
    { title: 'BYTES', side: 'right' },
    { title: 'MADE' },
  ] as const;
  const rows = entries.map((one) => [
    one.sandboxId,
    String(one.generation),
    String(one.bytes),
    instant(one.at),
  ]);
  const lines = table(columns, rows);
  writeAnswer(shell.stdout, options, { records: entries.map(recordOf), lines });
  return EXIT.ok;
}

async function verify(shell: Shell, { archives, id, options }: Request): Promise<ExitCode> {
  const records = options.json === true ? openRecords(shell.stdout) : null;
  let areWhole = true;
  for (const entry of await archives.entries(parseSandbox(id))) {
    const check = await archives.check(entry);
    areWhole &&= check.kind === 'whole';
    if (records !== null) records.write({ ...recordOf(entry), type: 'archive_checked', check: check.kind });
    else shell.stdout.write(`${entry.sandboxId} ${entry.generation}  ${wordsOf(check)}\n`);
  }
  return areWhole ? EXIT.ok : EXIT.failed;
}

interface Restoring extends Request {
  readonly id: string;
  readonly folder: string;
}

async function restore(shell: Shell, { archives, id, folder, options }: Restoring): Promise<ExitCode> {
  const newest = (await archives.entries(parseSandbox(id))).at(-1);
  if (newest === undefined) {
    throw new CliError(`Cannot restore the sandbox "${id}": it has no archive`, {
      remedy: 'list the archives with "parley archive list"',
    });
  }
  const check = await archives.check(newest);
  if (check.kind !== 'whole') {
    throw new CliError(`Cannot restore the sandbox "${id}": its archive is ${wordsOf(check)}`, {
      exitCode: EXIT.failed,
      remedy: 'an older one may be whole: look with "parley archive verify"',
    });
  }
  const directory = path.resolve(shell.cwd, folder);
  await archives.restore(newest, directory);
  const records = [{ ...recordOf(newest), type: 'restored', directory }];
  writeAnswer(shell.stdout, options, { records, lines: [directory] });
  return EXIT.ok;
}

/** Nothing ever ran where there is no store, so there is nothing to list. */
async function withArchives(
  shell: Shell,
  options: Flags,
  work: (archives: Archives) => Promise<ExitCode>,
): Promise<ExitCode> {
  const config = await openDeployment(shell, { path: options.config, startsProxy: false });
  const { openArchives } = await import('../../host/sandboxes/archives.ts');
  const archives = await openArchives(config);
  if (archives === null) {
    throw new CliError('Cannot read archives: nothing ever ran here', {
      remedy: 'another deployment is named with --config',
    });
  }
  try {
    return await work(archives);
  } finally {
    await archives.close();
  }
}

function parseSandbox(id: string | undefined): SandboxId | null {
  if (id === undefined) return null;
  const plain = id.replaceAll('-', '').toLowerCase();
  if (SANDBOX_ID.test(plain)) return sandboxId(plain);
  throw new CliError(`Cannot read archives of "${id}": a sandbox has an id of 32 hex digits`);
}

function recordOf({ sandboxId: id, generation, bytes, sha256, at }: ArchiveRecord): JsonRecord {
  return { type: 'archive', sandbox_id: id, generation, bytes, sha256, at };
}

function wordsOf(check: ArchiveCheck): string {
  switch (check.kind) {
    case 'whole':
      return `whole, ${check.members} members`;
    case 'missing':
      return 'missing: the record is there, and the bytes are not';
    case 'changed':
      return 'changed: its checksum is another';
    case 'unreadable':
      return `unreadable: ${check.reason}`;
  }
}
