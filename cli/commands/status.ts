/**
 * `parley status`: the runs so far, or one run with its items, as the store has them.
 * Owns the two listings; must not wait for anything or change anything.
 */
import type { LifecycleEvent, RunRow } from '../../core/machine/projection.ts';
import { AMENDED } from '../../core/run/settings.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { Reader } from '../../host/host-port.ts';
import { openRuns } from '../../host/open-deployment.ts';
import { instant, usd } from '../../core/text/amounts.ts';
import { deliveryRecord } from '../print/deliveries.ts';
import { evidenceRecord } from '../print/evidence.ts';
import { itemRecord, type JsonRecord, openRecords, runRecord, writeAnswer } from '../../host/records.ts';
import { runSummary } from '../print/run-summary.ts';
import { countEnded, countUnsuccessful, runState } from '../../core/run/run-words.ts';
import { cut, table } from '../../host/terminal-text.ts';
import { openServer, withRun } from '../open-run.ts';
import type { ServerOptions } from '../server/server-address.ts';
import type { Shell } from '../../host/shell.ts';
import { runResult } from '../run-session.ts';

interface StatusOptions extends ServerOptions, Flags {
  readonly limit: string;
}

const LIMIT_DEFAULT = '20';

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('status')
    .description('Show the runs so far, or one run with its conversations.')
    .argument('[run]', 'id of a run (default: all, newest first)')
    .option('--limit <n>', 'runs shown at most', LIMIT_DEFAULT)
    .shares('json', 'config', 'server')
    .says('Exit codes: 0 shown, 2 there is no such run, 5 the store cannot be read.')
    .examples('parley status', 'parley status first-batch-20261121t043105-9f3c --json')
    .action(ends((id: string | undefined, options: StatusOptions) => status(shell, id, options)));
}

async function status(shell: Shell, id: string | undefined, options: StatusOptions): Promise<ExitCode> {
  const limit = parseLimit(options.limit);
  const json = options.json === true;
  if (id !== undefined) {
    await withRun(shell, { id, ...options }, ({ reader, row }) => showRun(shell, reader, { row, json }));
    return EXIT.ok;
  }
  const reader =
    (await openServer(shell, options)) ?? (await openRuns(shell, options.config))?.reader ?? null;
  await showRuns(shell, reader, { limit, json }).finally(() => reader?.close());
  return EXIT.ok;
}

async function showRuns(
  { stdout, stderr }: Shell,
  reader: Reader | null,
  { limit, json }: { readonly limit: number; readonly json: boolean },
): Promise<void> {
  const runs = ((await reader?.runs()) ?? []).slice(0, limit);
  if (!json && runs.length === 0) stderr.write('no runs yet; start one with: parley run job.yaml\n');
  writeAnswer(
    stdout,
    { json },
    { records: runs.map(runRecord), lines: runs.length === 0 ? [] : runTable(runs) },
  );
}

function runTable(runs: readonly RunRow[]): string[] {
  return table(
    [
      { title: 'run' },
      { title: 'state', widthMax: 40 },
      { title: 'done', side: 'right' },
      { title: 'failed', side: 'right' },
      { title: 'spend', side: 'right' },
      { title: 'started' },
    ],
    runs.map((row) => [
      row.runId,
      runState(row),
      `${countEnded(row)}/${row.total}`,
      String(countUnsuccessful(row)),
      usd(row.spentNanoUsd),
      instant(row.createdAt),
    ]),
  );
}

async function showRun(
  { stdout, env }: Shell,
  reader: Reader,
  { row, json }: { readonly row: RunRow; readonly json: boolean },
): Promise<void> {
  const { runId } = row;
  const told = await runResult({ env }, reader, row);
  const events = await reader.runEvents(runId);
  if (json) {
    const { items, plan, deliveries, evidence } = told;
    const tags = new Map(plan?.items.map((item) => [item.key, item.tags]));
    const records = openRecords(stdout);
    records.write(runRecord(row));
    for (const item of items) records.write(itemRecord(item, tags.get(item.key)));
    for (const delivery of deliveries) records.write(deliveryRecord(delivery));
    for (const one of evidence) records.write(evidenceRecord(one));
    for (const event of events) records.write(runEventRecord(runId, event));
    return;
  }
  stdout.write(runSummary(told));
  for (const line of runEventLines(events)) stdout.write(`${line}\n`);
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new CliError(`Cannot use --limit "${text}": it is no whole number from 1`);
}

type RunHappening = LifecycleEvent & { readonly at: number };

const DETAIL_WIDTH = 140;

/**
 * What happened to a run as a whole, for people and as records: amendments with user and time, and one-time messages.
 * Owns the words; the events were recorded by the run.
 */
function runEventLines(events: readonly RunHappening[]): string[] {
  if (events.length === 0) return [];
  const lines = events.map(({ at, code, detail }) => {
    const what = code === AMENDED ? `amended: ${detail}` : `${code}: ${detail}`;
    return `${instant(at)}  ${cut(what, DETAIL_WIDTH)}`;
  });
  return ['', ...lines];
}

/** An amendment says what changed and by whom, as far as the user is known; anything else its code. */
function runEventRecord(runId: string, { at, code, detail }: RunHappening): JsonRecord {
  if (code !== AMENDED) return { type: 'run_event', run_id: runId, at, code, detail };
  const split = detail.lastIndexOf(BY);
  const what = split === -1 ? detail : detail.slice(0, split);
  const by = split === -1 ? null : detail.slice(split + BY.length);
  return { type: 'amendment', run_id: runId, at, what, by };
}

/** As core/run/settings.ts writes it. */
const BY = ', by ';
