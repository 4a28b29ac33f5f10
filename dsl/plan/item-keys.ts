/**
 * The keys of a plan: what one may be, and that no two are the same.
 * Owns these two checks; which text a key comes from is the business of entry-variant.ts.
 */
import type { CheckContext } from '../check/check-context.ts';
import type { Entry } from './entry.ts';
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import { rowName } from '../rows/chosen-rows.ts';
import type { Row } from '../rows/row.ts';
import type { Span } from '../read/text-position.ts';
import { childOf } from '../read/tree.ts';

/** What a key may be: artefact folder, tag and join key at once, so no segment is `.` or `..` or empty. */
const KEY_PATTERN =
  /^(?=.{1,200}$)(?:(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)(?:\/(?!\.{1,2}(?:\/|$))[A-Za-z0-9._-]+)*$/;

interface Use {
  readonly key: string;
  readonly span: Span;
  /** Its number: a whole row would be kept as long as the key. */
  readonly row: number | null;
}

interface NewKey {
  readonly entry: Entry;
  readonly row: Row | null;
  /** Where the key is written; null for one that was made. */
  readonly written: Span | null;
}

export class ItemKeys {
  private readonly uses = new Map<string, Use>();
  private readonly report: Report;

  constructor({ report }: CheckContext) {
    this.report = report;
  }

  add(key: string, { entry, row, written }: NewKey): void {
    const span = written ?? childOf(entry.tree, 'id')?.span ?? { start: 0, end: 0 };
    if (!KEY_PATTERN.test(key)) {
      const message = `${quote(key)} is not a key${ofRow(row, entry)}`;
      return this.report.add('JOB405', span, message, {
        remedy: 'a key has 1 to 200 letters, digits and . _ - in parts separated by /',
      });
    }
    const folded = key.toLowerCase();
    const same = this.uses.get(folded);
    if (same === undefined) this.uses.set(folded, { key, span, row: row?.number ?? null });
    else addSameKey({ key, span, row: row?.number ?? null }, { same, entry, report: this.report });
  }
}

interface SameKey {
  readonly same: Use;
  readonly entry: Entry;
  readonly report: Report;
}

function addSameKey({ key, span, row }: Use, { same, entry, report }: SameKey): void {
  const pair = `the keys ${quote(same.key)} and ${quote(key)} differ only in case`;
  const message = same.key === key ? `two conversations have the key ${quote(key)}` : pair;
  const rows = same.row === null || row === null ? '' : ` (rows ${same.row} and ${row})`;
  const elsewhere = same.span.start !== span.start;
  report.add('JOB306', span, `${message}${rows}`, {
    remedy: remedyFor(entry),
    ...(elsewhere ? { related: [{ span: same.span, message: 'first here' }] } : {}),
  });
}

function remedyFor({ conversation, scope }: Entry): string {
  const { matrix, repeat, key } = conversation;
  if (key !== undefined && repeat !== undefined && repeat > 1 && !/\brepeat\b/.test(key))
    return `let the key count the copies: ${key}/\${{ repeat }}`;
  if (scope.data !== null) return 'let the key use columns that tell the rows apart, or remove a row';
  const axes = Object.keys(matrix ?? {}).map((axis) => `\${{ matrix.${axis} }}`);
  if (axes.length === 0) return 'give one of them another "key"';
  return `write a "key" in which every axis counts, such as ${['${{ id }}', ...axes].join('/')}`;
}

/** Behind a message about one row: ` (row 17 of repos.csv)`. */
export function ofRow(row: Row | null, { scope }: Entry): string {
  return row === null ? '' : ` (${rowName(row, scope.data ?? { spoken: '' })})`;
}
