/**
 * `parley show`: the whole outcome of one conversation of a run; without a key, which conversations there are.
 * Owns the choice between the two and the list; the story is read and laid out in story/.
 */
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { itemState } from '../../core/run/run-words.ts';
import { endedWell } from '../../core/status.ts';
import { duration, usd } from '../../core/text/amounts.ts';
import { CliError } from '../../host/cli-error.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { itemRecord, openRecords, runRecord } from '../../host/records.ts';
import { calledAs, type Shell } from '../../host/shell.ts';
import { table } from '../../host/terminal-text.ts';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { nearNames } from '../story/near-names.ts';
import { type OpenedRun, withRun } from '../open-run.ts';
import type { ServerOptions } from '../server/server-address.ts';
import { readStory } from '../story/item-story.ts';
import { storyRecord, storyText } from '../story/story-text.ts';

interface ShowOptions extends ServerOptions, Flags {
  readonly failed?: true;
  readonly full?: true;
}

const REASON_WIDTH = 60;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('show')
    .description('Show what came of one conversation of a run, or list them.')
    .argument('<run>', 'id of the run')
    .argument('[key]', 'key of the conversation (default: a list of all)')
    .option('--full', 'show prompt, answer and diff to their ends')
    .option('--failed', 'without a key: only conversations that ended otherwise than well')
    .shares('json', 'config', 'server')
    .says('Exit codes: 0 shown, 2 there is no such run or key, 5 the store cannot be read.')
    .examples(
      'parley show last',
      'parley show last --failed',
      'parley show first-batch-20261121t043105-9f3c esm-entry',
      'parley show last esm-entry --full | less',
      'parley show last esm-entry --json | jq -r "select(.type == \\"story\\") | .answer"',
    )
    .action(
      ends((id: string, key: string | undefined, options: ShowOptions) => show(shell, { id, key, options })),
    );
}

interface ShowRequest {
  readonly id: string;
  readonly key: string | undefined;
  readonly options: ShowOptions;
}

async function show(shell: Shell, { id, key, options }: ShowRequest): Promise<ExitCode> {
  await withRun(shell, { id, ...options }, (opened) =>
    key === undefined ? showList(shell, opened, options) : showItem(shell, opened, { id, key, options }),
  );
  return EXIT.ok;
}

async function showItem(
  shell: Shell,
  { reader, row: run }: OpenedRun,
  { id, key, options }: ShowRequest & { readonly key: string },
): Promise<void> {
  const items = await reader.runItems(run.runId);
  const row = items.find((item) => item.key === key);
  if (row === undefined) throw noSuchKey({ id, key }, items);
  const story = await readStory({ reader, run, row, plan: await reader.plan(run.runId) });
  const parley = calledAs(shell);
  if (options.json === true) openRecords(shell.stdout).write(storyRecord(story, { parley }));
  else shell.stdout.write(storyText(story, { parley, isFull: options.full === true }));
}

function noSuchKey(
  { id, key }: { readonly id: string; readonly key: string },
  items: readonly RunItemRow[],
): CliError {
  const near = nearNames(
    key,
    items.map((item) => item.key),
  ).map((name) => `"${name}"`);
  return new CliError(`Cannot find the conversation "${key}": the run has no such key`, {
    remedy: near.length === 0 ? `list them with "parley show ${id}"` : `did you mean ${near.join(' or ')}?`,
  });
}

async function showList(shell: Shell, { reader, row: run }: OpenedRun, options: ShowOptions): Promise<void> {
  const items = await reader.runItems(run.runId);
  const plan = await reader.plan(run.runId);
  const shown =
    options.failed === true
      ? items.filter(({ phase, outcome }) => phase === 'ended' && !endedWell(outcome))
      : items;
  if (options.json === true) {
    const tags = new Map(plan?.items.map((item) => [item.key, item.tags]));
    const records = openRecords(shell.stdout);
    records.write(runRecord(run));
    for (const item of shown) records.write(itemRecord(item, tags.get(item.key)));
    return;
  }
  if (shown.length === 0) {
    shell.stderr.write(
      items.length === 0 ? 'the run has no conversations\n' : 'none ended otherwise than well\n',
    );
    return;
  }
  shell.stdout.write(`${listLines(shown, plan).join('\n')}\n`);
  shell.stderr.write(`show one of them with: ${calledAs(shell)} show ${run.runId} KEY\n`);
}

/** All of them: a user who searches for a key pipes the list on. */
function listLines(items: readonly RunItemRow[], plan: Plan | null): readonly string[] {
  const models = new Map(plan?.items.map(({ key, model }) => [key, model]));
  return table(
    [
      { title: 'key', widthMax: 200 },
      { title: 'outcome' },
      { title: 'model', widthMax: 40 },
      { title: 'time', side: 'right' },
      { title: 'cost', side: 'right' },
      { title: 'reason', widthMax: REASON_WIDTH },
    ],
    items.map((item) => [
      item.key,
      itemState(item),
      models.get(item.key) ?? '-',
      duration(item.admittedAt === null || item.endedAt === null ? null : item.endedAt - item.admittedAt),
      usd(item.costNanoUsd),
      (item.detail ?? '').replaceAll(/\s+/g, ' '),
    ]),
  );
}
