/**
 * The flags of `parley reconcile` as a request.
 * Owns their notation, NAME=VALUE and expectations; must not read a file.
 */
import path from 'node:path';
import type { ReconcileRequest } from '../activities/reconcile-run.ts';
import { parseDecimal } from '../core/money.ts';
import {
  AMOUNT_MEASURES,
  COUNT_MEASURES,
  parseExpectation,
  type Expectation,
} from '../core/reconcile-expectation.ts';
import { FIELD_NAMES } from '../gateway-client/row-fields.ts';
import { CliError } from './cli-error.ts';

export interface ReconcileFlags {
  readonly rows?: string;
  readonly map?: readonly string[];
  readonly rate?: readonly string[];
  readonly alias?: readonly string[];
  readonly expect?: readonly string[];
}

/** @throws CliError for a flag that cannot be understood */
export function reconcileRequest(flags: ReconcileFlags, cwd: string): ReconcileRequest {
  const columns = pairs('--map', flags.map);
  const rates = pairs('--rate', flags.rate);
  checkColumns(columns);
  checkRates(rates);
  if (flags.rows === undefined && flags.map !== undefined) {
    throw new CliError('Cannot use --map: it says how a file is read, and --rows names none');
  }
  return {
    ...(flags.rows === undefined ? {} : { rowsFile: path.resolve(cwd, flags.rows) }),
    reading: { columns, rates },
    modelAliases: pairs('--alias', flags.alias),
    expectations: (flags.expect ?? []).map(readExpectation),
  };
}

function pairs(flag: string, texts: readonly string[] = []): Readonly<Record<string, string>> {
  const read = texts.map((text) => {
    // The last sign separates: a name that a gateway bills may hold one.
    const at = text.lastIndexOf('=');
    if (at < 1 || at === text.length - 1) {
      throw new CliError(`Cannot read ${flag} "${text}": it is not NAME=VALUE`);
    }
    return [text.slice(0, at), text.slice(at + 1)] as const;
  });
  return Object.fromEntries(read);
}

function checkColumns(columns: Readonly<Record<string, string>>): void {
  for (const field of Object.keys(columns)) {
    if (FIELD_NAMES.some((name) => name === field)) continue;
    const remedy = `use one of ${[...FIELD_NAMES].sort().join(', ')}`;
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
