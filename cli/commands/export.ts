/**
 * `parley export`: the conversations of a run as a table for other programs.
 * Owns where it goes, and the columns of each form.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Option } from 'commander';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { Plan } from '../../core/plan/plan.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, type CommandContext } from '../command-context.ts';
import { readDeliveries, type Delivery } from '../run-results.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { reasonOf } from '../../host/job/job-file.ts';
import { withRun } from '../open-run.ts';
import type { Shell } from '../../host/shell.ts';

const FORMATS = ['jsonl', 'csv'] as const;

interface ExportOptions {
  readonly format: (typeof FORMATS)[number];
  readonly out?: string;
  readonly config?: string;
}

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('export')
    .description('Print the conversations of a run as JSON Lines or CSV, one row each.')
    .argument('<run>', 'id of the run')
    .addOption(new Option('--format <format>', 'form of the rows').choices(FORMATS).default('jsonl'))
    .option('--out <file>', 'write into this file instead of standard output')
    .shares('config')
    .says('Exit codes: 0 printed, 2 there is no such run, or the file cannot be written.')
    .examples(
      'parley export first-batch-20261121t043105-9f3c > run.jsonl',
      'parley export first-batch-20261121t043105-9f3c --format csv --out run.csv',
    )
    .action(ends((id: string, options: ExportOptions) => exportRun(shell, id, options)));
}

async function exportRun(
  shell: Shell,
  id: string,
  { format, out, config }: ExportOptions,
): Promise<ExitCode> {
  return await withRun(shell, { id, config }, async ({ reader, row }) => {
    const { runId } = row;
    const [items, plan] = [await reader.runItems(runId), await reader.plan(runId)];
    const deliveries = await readDeliveries(plan, { results: reader.results, runId });
    const rows = exportRows({ items, plan, deliveries });
    const text = format === 'csv' ? rowsAsCsv(rows) : rowsAsJsonl(rows);
    if (out === undefined) shell.stdout.write(text);
    else save(path.resolve(shell.cwd, out), text);
    return EXIT.ok;
  });
}

function save(file: string, text: string): void {
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw new CliError(`Cannot write the rows to "${file}": ${reasonOf(error)}`);
  }
}

type ExportRow = Readonly<Record<string, string | number | null>>;

interface ExportedRun {
  readonly items: readonly RunItemRow[];
  readonly plan: Plan | null;
  readonly deliveries: readonly Delivery[];
}

/** Every row has the same columns in the same order; a column without a value is null. */
function exportRows({ items, plan, deliveries }: ExportedRun): readonly ExportRow[] {
  const planned = new Map(plan?.items.map((item) => [item.key, item]));
  const delivered = new Map(deliveries.map((delivery) => [delivery.key, delivery]));
  const axes = namesOf(plan?.items.map(({ matrix }) => matrix));
  const tags = namesOf(plan?.items.map((item) => item.tags));
  return items.map((row) => {
    const item = planned.get(row.key);
    const delivery = delivered.get(row.key);
    const named = (prefix: string, names: readonly string[], values: Readonly<Record<string, string>> = {}) =>
      Object.fromEntries(names.map((name) => [`${prefix}.${name}`, values[name] ?? null]));
    return {
      run: row.runId,
      key: row.key,
      entry: item?.entry ?? null,
      model: item?.model ?? null,
      repository: item?.repository?.name ?? null,
      ...named('matrix', axes, item?.matrix),
      ...named('tag', tags, item?.tags),
      phase: row.phase,
      outcome: row.outcome,
      failure_class: row.failureClass,
      detail: row.detail,
      attempt: row.attempt,
      admitted_at: instant(row.admittedAt),
      ended_at: instant(row.endedAt),
      duration_ms: row.admittedAt === null || row.endedAt === null ? null : row.endedAt - row.admittedAt,
      cost_nano_usd: row.costNanoUsd,
      conversation_id: row.conversationId,
      sandbox_id: row.sandboxId,
      ...(plan?.deliver === undefined
        ? {}
        : {
            branch: delivery?.branch ?? null,
            commit: delivery?.commit ?? null,
            delivery: delivery?.state ?? null,
          }),
      ...(plan?.deliver?.pullRequest === undefined
        ? {}
        : { pull_request: delivery?.pullRequest?.url ?? null }),
      ...(plan?.issues === undefined ? {} : { issue: item?.issue?.url ?? null }),
    };
  });
}

function namesOf(maps: readonly Readonly<Record<string, string>>[] = []): readonly string[] {
  return [...new Set(maps.flatMap((map) => Object.keys(map)))].sort();
}

function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}

function rowsAsJsonl(rows: readonly ExportRow[]): string {
  return rows.map((row) => `${JSON.stringify(row)}\n`).join('');
}

/** RFC 4180; without rows only nothing, because the columns follow from the plan. */
function rowsAsCsv(rows: readonly ExportRow[]): string {
  const [first] = rows;
  if (first === undefined) return '';
  const lines = [Object.keys(first), ...rows.map((row) => Object.values(row))];
  return lines.map((cells) => `${cells.map(cell).join(',')}\r\n`).join('');
}

/** A spreadsheet would take text that begins with one of these as a formula; the quote before it is shown by none. */
const FORMULA = /^[=+\-@\t\r]/;

function cell(value: string | number | null): string {
  if (value === null) return '';
  if (typeof value === 'number') return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
