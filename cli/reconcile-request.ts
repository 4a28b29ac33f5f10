/**
 * The flags of `parley reconcile` as a request.
 * Owns their notation, NAME=VALUE and expectations; must not read a file.
 */
import path from 'node:path';
import type { ReconcileRequest } from '../activities/reconcile-run.ts';
import { parseDecimal } from '../core/money/money.ts';
import {
  AMOUNT_MEASURES,
  COUNT_MEASURES,
  parseExpectation,
  type Expectation,
} from '../core/reconcile/reconcile-expectation.ts';
import { FIELD_NAMES, SCALED_FIELDS } from '../clients/gateway/row-fields.ts';
import { CliError } from '../host/cli-error.ts';

export interface ReconcileFlags {
  readonly rows?: string;
  readonly map?: readonly string[];
  readonly rate?: readonly string[];
  readonly alias?: readonly string[];
  readonly expect?: readonly string[];
}

/** @throws CliError for a flag that cannot be understood */
export function reconcileRequest(flags: ReconcileFlags, cwd: string): ReconcileRequest {
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
