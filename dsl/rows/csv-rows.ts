/**
 * A CSV file as rows with named fields; the first row names them, and every field is text.
 * Owns what a header may be, and that every row has its columns.
 */
import type { FieldTypes } from '../plan/plan-scope.ts';
import { quote } from '../read/quote.ts';
import { COLUMN } from '../schema/text-rule.ts';
import { csvCells } from './csv-cells.ts';
import { COLUMNS_MAX, type Row, type RowProblem } from './row.ts';

export interface CsvFile {
  readonly columns: FieldTypes;
  /** Rows in order; a problem ends them. */
  readonly rows: Iterable<Row | RowProblem>;
}

/** Reads the header; the rows are read while they are taken. */
export function readCsv(chunks: Iterable<string | RowProblem>): CsvFile | RowProblem {
  const cells = csvCells(chunks);
  const first = cells.next();
  if (first.done === true)
    return { line: 1, message: 'the file is empty', remedy: 'start with a line of column names' };
  if ('message' in first.value) return first.value;
  const names = first.value.cells.map((cell) => cell.trim());
  const problem = headerProblem(names);
  if (problem !== null) return { line: first.value.line, ...problem };
  return {
    columns: Object.fromEntries(names.map((name) => [name, 'string' as const])),
    rows: rowsOf(names, cells),
  };
}

function headerProblem(names: readonly string[]): Pick<RowProblem, 'message' | 'remedy'> | null {
  if (names.length > COLUMNS_MAX)
    return {
      message: `the header has ${names.length} columns; at most ${COLUMNS_MAX} are read`,
      remedy: null,
    };
  const blank = names.indexOf('');
  if (blank !== -1)
    return { message: `column ${blank + 1} of the header has no name`, remedy: 'name every column' };
  const bad = names.find((name) => !COLUMN.pattern.test(name));
  if (bad !== undefined)
    return {
      message: `${quote(bad)} is not a name of a column`,
      remedy: 'use a letter, then letters, digits and underscores',
    };
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  return twice === undefined
    ? null
    : { message: `the header names the column ${quote(twice)} twice`, remedy: 'rename one' };
}

function* rowsOf(names: readonly string[], cells: ReturnType<typeof csvCells>): Generator<Row | RowProblem> {
  let number = 0;
  for (const row of cells) {
    if ('message' in row) return yield row;
    number += 1;
    if (row.cells.length !== names.length) return yield ragged(row.cells.length, { names, line: row.line });
    const fields: Record<string, string> = {};
    names.forEach((name, at) => {
      fields[name] = row.cells[at] ?? '';
    });
    yield { number, line: row.line, fields };
  }
}

function ragged(
  found: number,
  { names, line }: { readonly names: readonly string[]; readonly line: number },
): RowProblem {
  const message = `this row has ${found} ${found === 1 ? 'cell' : 'cells'}, and the header ${names.length}`;
  const remedy = found > names.length ? 'put a cell with a comma in double quotes' : 'add the missing commas';
  return { line, message, remedy };
}
