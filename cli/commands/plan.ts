/**
 * `parley plan`: what a run would do, conversation by conversation, and nothing is run.
 * Owns the printed form of a plan and the saved file; the plan itself comes from the compiler.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { Command } from 'commander';
import { counted } from '../../core/counted.ts';
import type { Plan, PlanItem } from '../../core/plan.ts';
import { CliError } from '../cli-error.ts';
import { configOption, examples, type CommandContext } from '../command-context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { reasonOf } from '../job-file.ts';
import { loadPlan } from '../load-plan.ts';
import { duration, usd } from '../print/amounts.ts';
import { openRecords } from '../print/records.ts';
import { cut, table } from '../print/terminal-text.ts';
import type { Shell } from '../shell.ts';

interface PlanOptions {
  readonly out?: string;
  readonly json?: true;
  readonly expanded?: true;
  readonly config?: string;
}

const PROMPT_WIDTH = 100;
/** A longer list is for --expanded. */
const ITEMS_SHOWN_MAX = 50;

export function planCommand({ shell, finish }: CommandContext): Command {
  return new Command('plan')
    .description('Compile a job file and show what a run would do.')
    .argument('<file>', 'job file, or a saved plan')
    .option('--out <file>', 'save the plan as JSON; "parley run FILE" runs exactly this')
    .option('--json', 'print the plan as a JSON record')
    .option('--expanded', 'show every field of every conversation')
    .addOption(configOption())
    .addHelpText(
      'after',
      '\nExit codes: 0 planned, 1 the job has errors, 2 a file cannot be read or written.',
    )
    .addHelpText(
      'after',
      examples('parley plan job.yaml', 'parley plan job.yaml --out plan.json && parley run plan.json'),
    )
    .action((file: string, options: PlanOptions) => {
      finish(plan(shell, file, options));
    });
}

function plan(shell: Shell, file: string, options: PlanOptions): ExitCode {
  const loaded = loadPlan(shell, { file, config: options.config, checksSecrets: false });
  if (loaded === null) return EXIT.failed;
  if (options.out !== undefined) save(shell, loaded, options.out);
  if (options.json === true) openRecords(shell.stdout).write({ type: 'plan', plan: loaded });
  else shell.stdout.write(`${describe(loaded, options.expanded === true).join('\n')}\n`);
  return EXIT.ok;
}

function save({ cwd, stderr }: Shell, loaded: Plan, file: string): void {
  try {
    writeFileSync(path.resolve(cwd, file), `${JSON.stringify(loaded, null, 2)}\n`);
    stderr.write(`plan written to ${file}\n`);
  } catch (error) {
    throw new CliError(`Cannot write the plan to "${file}": ${reasonOf(error)}`);
  }
}

function describe(loaded: Plan, isExpanded: boolean): string[] {
  const { items, admission, placement, budget, wait, cleanup } = loaded;
  const strategy = placement.sandboxId ?? placement.strategy?.toLowerCase() ?? "the user's setting";
  return [
    `${loaded.name}: ${counted(items.length, 'conversation')}, ${admission.concurrency} at once, placement ${strategy}`,
    `hash: ${loaded.hash}`,
    `ends: ${wait.until.join(', ')}; deadline ${duration(wait.deadlineMs)}, no progress ${duration(wait.noProgressMs)}`,
    `collect: ${loaded.collect.map(({ kind }) => kind).join(', ')}; then sandbox ${cleanup.sandbox}`,
    ...(budget === null ? [] : [`budget: ${usd(budget.nanoUsd)}, ${budget.mode}`]),
    ...(loaded.reconcile === null ? [] : [`reconcile: rows from the ${loaded.reconcile.rows.from}`]),
    '',
    ...(isExpanded ? items.flatMap(expandItem) : listItems(items)),
  ];
}

function listItems(items: readonly PlanItem[]): string[] {
  const rows = items
    .slice(0, ITEMS_SHOWN_MAX)
    .map((item) => [
      item.key,
      item.model,
      item.repository?.name ?? '-',
      item.verify === null ? '-' : item.verify.command,
      item.prompt.trim(),
    ]);
  const lines = table(
    [
      { title: 'key', widthMax: 40 },
      { title: 'model', widthMax: 24 },
      { title: 'repository', widthMax: 30 },
      { title: 'verify', widthMax: 30 },
      { title: 'prompt', widthMax: 50 },
    ],
    rows.map((row) => row.map((cell) => cut(cell, PROMPT_WIDTH))),
  );
  if (items.length > ITEMS_SHOWN_MAX)
    lines.push(`and ${items.length - ITEMS_SHOWN_MAX} more; see --expanded`);
  return lines;
}

function expandItem(item: PlanItem): string[] {
  const { index: _index, prompt, key, ...rest } = item;
  return [
    `+ ${key}`,
    ...Object.entries(rest).map(([name, value]) => `    ${name}: ${cut(JSON.stringify(value), 160)}`),
    '    prompt: |',
    ...prompt
      .trimEnd()
      .split('\n')
      .map((line) => `      ${cut(line, 160)}`),
    '',
  ];
}
