/**
 * `parley reconcile`: join what the gateway billed with the conversations of a run, once more (D27).
 * Owns the printed sums; the joining is not done here.
 */
import path from 'node:path';
import type { ReconcileRequest } from '../../activities/reconcile-run.ts';
import { FIELD_NAMES, SCALED_FIELDS } from '../../clients/gateway/row-fields.ts';
import { parseDecimal } from '../../core/money/money.ts';
import {
  AMOUNT_MEASURES,
  COUNT_MEASURES,
  type Expectation,
  parseExpectation,
} from '../../core/reconcile/reconcile-expectation.ts';
import { CliError } from '../../host/cli-error.ts';
import { CliCommand, collected, type CommandContext, type Flags } from '../command-context.ts';
import { EXIT, type ExitCode } from '../../host/exit-code.ts';
import { lossFields, reconciliationRecords, reconciliationText } from '../print/reconciliation.ts';
import { openRecords, reconciliationFields } from '../../host/records.ts';
import { reconciliationLines } from '../print/run-summary.ts';
import type { Shell } from '../../host/shell.ts';
import { withHost } from '../with-host.ts';

type ReconcileOptions = ReconcileFlags & Flags;

export function command({ shell, ends }: CommandContext): CliCommand {
  return new CliCommand('reconcile')
    .description("Join the gateway's spend rows with the conversations of a run.")
    .argument('<run>', 'id of the run')
    .option('--rows <file>', 'rows as .jsonl, .json or .csv, instead of where the job says')
    .option('--map <field=column>', 'the column of a field in such a file; repeatable', collected)
    .option('--rate <currency=usd>', 'USD for one unit of a currency; repeatable', collected)
    .option('--alias <billed=name>', "our proxy's name for a model that is billed; repeatable", collected)
    .option('--expect <bound>', 'such as "unmatched<=1%"; repeatable', collected)
    .shares('json', 'config')
    .says(
      'Exit codes: 0 no bound is exceeded, 2 there is no such run or the rows cannot be read,\n5 the gateway or the engine cannot be reached, 7 outside tolerance.',
    )
    .examples(
      'parley reconcile first-batch-20261121t043105-9f3c',
      "parley reconcile first-batch-20261121t043105-9f3c --rows spend.csv --expect 'unmatched<=1%'",
    )
    .action(ends((id: string, options: ReconcileOptions) => reconcile(shell, id, options)));
}

async function reconcile(shell: Shell, id: string, options: ReconcileOptions): Promise<ExitCode> {
  const request = reconcileRequest(options, shell.cwd);
  const answer = await withHost(shell, { id, config: options.config }, (host, runId) =>
    host.reconcile(runId, request),
  );
  const { summary, isKept } = answer;
  const expected = options.expect ?? [];
  if (options.json === true) {
    const records = openRecords(shell.stdout);
    const expectations = expected.map((bound, index) => ({ bound, kept: isKept[index] === true }));
    const fields = { ...reconciliationFields(summary), ...lossFields(answer.lost) };
    records.write({ type: 'reconciliation', run_id: id, ...fields, expectations });
    for (const record of reconciliationRecords(id, answer)) records.write(record);
  } else {
    const lines = [...reconciliationLines(summary), ...reconciliationText(answer, expected)];
    shell.stdout.write(`${lines.join('\n')}\n`);
  }
  return summary.withinTolerance !== false && isKept.every(Boolean) ? EXIT.ok : EXIT.outsideTolerance;
}

/** The flags of `parley reconcile` as a request. */
interface ReconcileFlags {
  readonly rows?: string;
  readonly map?: readonly string[];
  readonly rate?: readonly string[];
  readonly alias?: readonly string[];
  readonly expect?: readonly string[];
}

/** @throws CliError for a flag that cannot be understood */
function reconcileRequest(flags: ReconcileFlags, cwd: string): ReconcileRequest {
  const { columns, factors } = mapped(pairs('--map', flags.map));
  const rates = pairs('--rate', flags.rate);
  checkColumns(columns);
  checkRates(rates);
  if (flags.rows === undefined && flags.map !== undefined) {
    throw new CliError('Cannot use --map: it says how a file is read, and --rows names none');
  }
  return {
    ...(flags.rows === undefined ? {} : { rowsFile: path.resolve(cwd, flags.rows) }),
    reading: { columns, factors, rates },
    modelAliases: pairs('--alias', flags.alias),
    expectations: (flags.expect ?? []).map(readExpectation),
  };
}

/** What each flag wants, by an example. */
const PAIRS = {
  '--map': '--map FIELD=COLUMN, such as --map cost=amount or --map cost=cents*0.01',
  '--rate': '--rate CURRENCY=USD, such as --rate EUR=1.0834',
  '--alias': '--alias BILLED=NAME, such as --alias acme-coder-2026=coder',
} as const;

function pairs(flag: keyof typeof PAIRS, texts: readonly string[] = []): Readonly<Record<string, string>> {
  const read = texts.map((text) => {
    // The last sign separates: a name that a gateway bills may hold one.
    const at = text.lastIndexOf('=');
    if (at < 1 || at === text.length - 1) {
      throw new CliError(`Cannot read ${flag} "${text}": it is not NAME=VALUE`, {
        remedy: `write ${PAIRS[flag]}`,
      });
    }
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return Object.fromEntries(read);
}

/** `COLUMN*FACTOR` where the export counts in another unit than ours. */
function mapped(pairsOfMap: Readonly<Record<string, string>>) {
  const columns: Record<string, string> = {};
  const factors: Record<string, string> = {};
  for (const [field, text] of Object.entries(pairsOfMap)) {
    const [, column = text, factor] = /^(.+?) *\* *(\d[\d.]*(?:[eE][+-]?\d+)?)$/.exec(text) ?? [];
    columns[field] = column;
    if (factor !== undefined) factors[field] = checkedFactor(field, factor);
  }
  return { columns, factors };
}

function checkedFactor(field: string, factor: string): string {
  const decimal = parseDecimal(factor);
  if (decimal === null || decimal.digits === 0n) {
    const remedy = `write a decimal above 0, such as --map cost=cents*0.01`;
    throw new CliError(`Cannot read the factor "${factor}" of --map ${field}`, { remedy });
  }
  if (SCALED_FIELDS.some((name) => name === field)) return factor;
  const remedy = `fields that are numbers are ${[...SCALED_FIELDS].sort().join(', ')}`;
  throw new CliError(`Cannot multiply "${field}" by ${factor}: it is no number`, { remedy });
}

function checkColumns(columns: Readonly<Record<string, string>>): void {
  for (const field of Object.keys(columns)) {
    if (FIELD_NAMES.some((name) => name === field)) continue;
    const remedy = `write --map FIELD=COLUMN with one of the fields ${[...FIELD_NAMES].sort().join(', ')}`;
    throw new CliError(`Cannot map "${field}": there is no such field`, { remedy });
  }
}

function checkRates(rates: Readonly<Record<string, string>>): void {
  for (const [currency, rate] of Object.entries(rates)) {
    const decimal = parseDecimal(rate);
    if (/^[A-Z]{3}$/.test(currency) && decimal !== null && !decimal.isNegative) continue;
    const remedy = 'write the currency and USD for one unit of it, such as EUR=1.0834';
    throw new CliError(`Cannot read --rate "${currency}=${rate}"`, { remedy });
  }
}

function readExpectation(text: string): Expectation {
  const expectation = parseExpectation(text);
  if (expectation !== null) return expectation;
  throw new CliError(`Cannot read --expect "${text}"`, {
    remedy:
      `write ${AMOUNT_MEASURES.join(', ')} with a share or USD, such as "unmatched<=1%", ` +
      `or ${COUNT_MEASURES.join(', ')} with a count`,
  });
}
