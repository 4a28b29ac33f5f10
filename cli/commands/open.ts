/**
 * `parley open`: the report of a run, or its page in the console, in a browser.
 * Owns which of them it is, and where a report that the job does not ask for is written.
 */
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError } from '../../host/cli-error.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import { writeAnswer } from '../../host/records.ts';
import type { Shell } from '../../host/shell.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { type OpenedRun, withRun } from '../open-run.ts';
import { serverAddress, type ServerOptions } from '../server/server-address.ts';

interface OpenOptions extends ServerOptions, Flags {
  readonly print?: true;
}

/** As `parley init` and the examples name it. */
const FILE = 'report.html';

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('open')
    .description('Open the report of a run in a browser; with --server, its page in the console.')
    .argument('<run>', 'id of the run')
    .option('--print', 'only print where it is')
    .shares('json', 'config', 'server')
    .says('Where nothing opens a page, as in a CI, where it is is printed all the same.')
    .says(
      'Exit codes: 0 opened or printed, 2 there is no such run, or the report cannot be written, 5 the store or the\nservice cannot be reached.',
    )
    .examples(
      'parley open last',
      'parley open last --print',
      'parley open first-batch-20261121t043105-9f3c --server https://parley.example.com',
    )
    .action(ends((id: string, options: OpenOptions) => open(shell, id, options)));
}

async function open(shell: Shell, id: string, options: OpenOptions): Promise<ExitCode> {
  const place = await placeOf(shell, id, options);
  const isOpened = options.print === true ? false : await shell.openAddress(place.address);
  const record = { type: 'opened', run_id: place.runId, ...place.record, opened: isOpened };
  writeAnswer(shell.stdout, options, { records: [record], lines: [place.shown] });
  if (!isOpened && options.print !== true)
    shell.stderr.write('nothing here opens a page; open it yourself\n');
  return EXIT.ok;
}

interface Place {
  readonly runId: string;
  readonly address: string;
  readonly shown: string;
  readonly record: { readonly file: string | null; readonly url: string };
}

async function placeOf(shell: Shell, id: string, options: OpenOptions): Promise<Place> {
  const server = serverAddress(shell, options);
  return await withRun(shell, { id, ...options }, async (opened) => {
    const { runId } = opened.row;
    if (server !== null) {
      const url = `${server.url}/console/runs/${encodeURIComponent(runId)}`;
      return { runId, address: url, shown: url, record: { file: null, url } };
    }
    const file = await reportOf(shell, opened);
    const url = pathToFileURL(file).href;
    return { runId, address: url, shown: file, record: { file, url } };
  });
}

/** The one that the run wrote at its end; else as the run stands now. */
async function reportOf(shell: Shell, { reader, row }: OpenedRun): Promise<string> {
  const { results } = reader;
  const { runId } = row;
  const planned = (await reader.plan(runId))?.report.find(({ format }) => format === 'html')?.file;
  const file = path.join(results.folder(runId), planned ?? FILE);
  if (row.phase === 'finished' && planned !== undefined) {
    const { files } = await results.fetch(runId, (name) => name === planned);
    if (files.length > 0) return file;
  }
  if (reader.draw === undefined) throw new Error('Cannot draw the report: this reader has none');
  save({ file, partial: `${file}.${shell.randomHex(8)}.new` }, await reader.draw(runId, 'html'));
  return file;
}

/** Whole or not at all: a browser may have the one before open. */
function save({ file, partial }: { readonly file: string; readonly partial: string }, text: string): void {
  try {
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(partial, text);
    renameSync(partial, file);
  } catch (error) {
    throw new CliError(`Cannot write the report to "${file}": ${reasonOf(error)}`);
  }
}
