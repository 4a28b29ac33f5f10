/**
 * `parley report`: write the reports of a run anew, or print a summary of it.
 * Owns the list of what was written; neither is made here.
 */
import { Option } from 'commander';
import { CliCommand, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import type { RunId } from '../../core/ids.ts';
import type { RunDesk } from '../../host/host-port.ts';
import { lossWords } from '../../core/money/spend-loss.ts';
import { lossFields } from '../print/reconciliation.ts';
import { openRecords } from '../../host/records.ts';
import type { Shell } from '../../host/shell.ts';
import { withRun } from '../open-run.ts';
import { withDesk } from '../with-host.ts';

const SUMMARIES = ['github', 'slack'] as const;

interface ReportOptions extends Flags {
  readonly summary?: (typeof SUMMARIES)[number];
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('report')
    .description('Write the reports of a run anew, or print a summary of it.')
    .argument('<run>', 'id of the run')
    .addOption(
      new Option(
        '--summary <form>',
        'print a summary instead: Markdown for GitHub and GitLab, or a message for Slack',
      ).choices(SUMMARIES),
    )
    .shares('json', 'config')
    .says(
      'Exit codes: 0 written or printed, 2 there is no such run, 5 another process owns the data directory.',
    )
    .examples(
      'parley report first-batch-20261121t043105-9f3c',
      'parley report last --summary github >> "$GITHUB_STEP_SUMMARY"',
      'parley report last --summary slack | curl --json @- "$SLACK_WEBHOOK_URL"',
    )
    .action(
      ends((id: string, options: ReportOptions) =>
        options.summary === undefined
          ? report(shell, id, options)
          : printSummary(shell, { id, form: options.summary, options }),
      ),
    );
}

interface SummaryRequest {
  readonly id: string;
  readonly form: (typeof SUMMARIES)[number];
  readonly options: ReportOptions;
}

/** Read while another process may carry out the run. */
async function printSummary(shell: Shell, { id, form, options }: SummaryRequest): Promise<ExitCode> {
  return await withRun(shell, { id, config: options.config }, async ({ reader, row }) => {
    if (reader.draw === undefined) throw new Error('Cannot draw the summary: this reader has none');
    const text = await reader.draw(row.runId, form);
    if (options.json === true)
      openRecords(shell.stdout).write({ type: 'summary', run_id: row.runId, form, text });
    else shell.stdout.write(text);
    return EXIT.ok;
  });
}

async function report(shell: Shell, id: string, options: ReportOptions): Promise<ExitCode> {
  const { files, lost } = await withDesk(shell, { id, config: options.config }, async (host, runId) => {
    const reported = await host.report(runId);
    return { ...reported, files: await broughtHere(host, { runId, files: reported.files }) };
  });
  if (options.json === true)
    openRecords(shell.stdout).write({ type: 'reported', run_id: id, files, ...lossFields(lost) });
  else if (files.length === 0) shell.stderr.write('the job asks for no report; its key is "report"\n');
  else shell.stdout.write(`${files.join('\n')}\n`);
  if (options.json !== true && lost !== null) shell.stderr.write(`${lossWords(lost)}\n`);
  return EXIT.ok;
}

/** Where they can be opened: copies of what lives elsewhere. */
async function broughtHere(
  { results }: RunDesk,
  { runId, files }: { readonly runId: RunId; readonly files: readonly string[] },
): Promise<readonly string[]> {
  const location = results.location(runId);
  if (location === results.folder(runId)) return files;
  const names = new Set(files.map((file) => file.slice(location.length + 1)));
  return (await results.fetch(runId, (name) => names.has(name))).files;
}
