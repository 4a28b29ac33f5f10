/**
 * A file with one JSON object a line as rows; the first object says which fields there are, and of what type.
 * Owns that every row has the same fields; blank lines are no rows, and json-text.ts loses nothing of the others.
 */
import type { FieldTypes, FieldValue } from '../plan/plan-scope.ts';
import { quote } from '../read/quote.ts';
import { COLUMN } from '../schema/text-rule.ts';
import type { CsvFile } from './csv-rows.ts';
import { fieldTypeOf, furtherField, missingField, otherType, type Misfit } from './field-type.ts';
import { readJsonText } from './json-text.ts';
import { COLUMNS_MAX, ROW_CHARS_MAX, type Row, type RowProblem } from './row.ts';

/** Reads the first object; the others are read while they are taken. */
export function readJsonl(chunks: Iterable<string | RowProblem>): CsvFile | RowProblem {
  const lines = linesOf(chunks);
  const first = lines.next();
  if (first.done === true) return { line: 1, message: 'the file is empty', remedy: ONE_OBJECT };
  if ('message' in first.value) return first.value;
  const parsed = parse(first.value);
  if ('problem' in parsed) return parsed.problem;
  const { fields } = parsed;
  const bad = Object.keys(fields).find((name) => !COLUMN.pattern.test(name));
  if (bad !== undefined) {
    const remedy = 'use a letter, then letters, digits and underscores';
    return { line: first.value.line, message: `${quote(bad)} is not a name of a field`, remedy };
  }
  if (Object.keys(fields).length > COLUMNS_MAX)
    return { line: first.value.line, message: `an object has more than ${COLUMNS_MAX} fields`, remedy: null };
  const columns = Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, fieldTypeOf(value)]),
  );
  return {
    columns,
    rows: rowsOf(columns, { first: { number: 1, line: first.value.line, ...parsed }, lines }),
  };
}

interface Line {
  readonly line: number;
  readonly text: string;
}

function* linesOf(chunks: Iterable<string | RowProblem>): Generator<Line | RowProblem> {
  let rest = '';
  let line = 0;
  for (const chunk of chunks) {
    if (typeof chunk !== 'string') return yield chunk;
    const pieces = `${rest}${chunk}`.split('\n');
    rest = pieces.pop() ?? '';
    for (const text of pieces) {
      line += 1;
      if (text.trim() !== '') yield { line, text: line === 1 ? text.replace(/^\uFEFF/, '') : text };
    }
    if (rest.length <= ROW_CHARS_MAX) continue;
    return yield {
      line: line + 1,
      message: 'a line has more than 1 MiB',
      remedy: 'keep long texts in files of their own',
    };
  }
  if (rest.trim() !== '') yield { line: line + 1, text: rest };
}

type Fields = Readonly<Record<string, FieldValue>>;
type Parsed = Pick<Row, 'written'> & { readonly fields: Fields };

function parse({ line, text }: Line): Parsed | { readonly problem: RowProblem } {
  const read = readJsonText(text);
  if (read === null) return { problem: { line, message: 'this line is not JSON', remedy: ONE_OBJECT } };
  if ('problem' in read) return { problem: { line, ...read.problem } };
  const { value, written } = read;
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return { fields: value as Fields, ...(written === null ? {} : { written }) };
  return { problem: { line, message: 'this line is not a JSON object', remedy: ONE_OBJECT } };
}

const ONE_OBJECT = 'write one JSON object a line';

interface Rest {
  readonly first: Row;
  readonly lines: ReturnType<typeof linesOf>;
}

function* rowsOf(columns: FieldTypes, { first, lines }: Rest): Generator<Row | RowProblem> {
  let number = 1;
  yield first;
  for (const line of lines) {
    if ('message' in line) return yield line;
    const parsed = parse(line);
    if ('problem' in parsed) return yield parsed.problem;
    const problem = misfit(parsed.fields, columns);
    if (problem !== null) return yield { line: line.line, ...problem };
    number += 1;
    yield { number, line: line.line, ...parsed };
  }
}

function misfit(fields: Fields, columns: FieldTypes): Misfit | null {
  for (const [name, type] of Object.entries(columns)) {
    if (!Object.hasOwn(fields, name)) return missingField(name);
    const found = fieldTypeOf(fields[name] ?? null);
    if (type !== 'dyn' && found !== type) return { message: otherType(name, found, type), remedy: null };
  }
  const further = Object.keys(fields).find((name) => !Object.hasOwn(columns, name));
  return further === undefined ? null : furtherField(further, columns);
}
