/**
 * Rows that stand in the job itself, under `items`; the first says which fields there are, and of what type.
 * Owns that all have the same fields, each finding at its place; what a cell may be is the schema's.
 */
import type { FieldType, FieldTypes, FieldValue } from '../plan/plan-scope.ts';
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import { parseTemplate } from '../plan/template.ts';
import { entriesOf, entryOf, itemsOf, type Tree, type TreeEntry } from '../read/tree.ts';
import { unread, type DataFile } from './data-file.ts';
import { FIELD_WORDS, fieldTypeOf, furtherField } from './field-type.ts';

const SPOKEN = '"items"';

export function listedRows(list: Tree, report: Report): DataFile {
  const { file } = report.placeOf(list.span);
  const trees = itemsOf(list);
  const [first] = trees;
  // What is no list of maps is a finding of the schema.
  if (first === undefined || trees.some((tree) => entriesOf(tree).length === 0)) return unread(file);
  const columns = Object.fromEntries(entriesOf(first).map(({ key, value }) => [key, typeOfCell(value)]));
  for (const tree of trees.slice(1)) checkRow(tree, columns, report);
  const rows = trees.map((tree, at) => ({
    number: at + 1,
    line: report.placeOf(tree.span).line,
    fields: Object.fromEntries(entriesOf(tree).map(({ key, value }) => [key, cellOf(key, value, report)])),
  }));
  return { file, spoken: SPOKEN, columns, rows: () => rows };
}

/** Of anything, where an input stands that has no value yet. */
function typeOfCell(tree: Tree): FieldType {
  if (tree.kind !== 'scalar' || tree.open === true) return 'dyn';
  return fieldTypeOf(tree.value);
}

function checkRow(row: Tree, columns: FieldTypes, report: Report): void {
  const entries = entriesOf(row);
  const place = entries[0]?.keySpan ?? row.span;
  for (const name of Object.keys(columns).filter((column) => entryOf(row, column) === undefined))
    report.add('JOB318', place, `this row has no field ${quote(name)}, and the first has`, {
      remedy: 'every row has the same fields',
    });
  for (const entry of entries) checkCell(entry, columns, report);
}

function checkCell({ key, keySpan, value }: TreeEntry, columns: FieldTypes, report: Report): void {
  const wanted = Object.hasOwn(columns, key) ? columns[key] : undefined;
  if (wanted === undefined) {
    const { message, remedy } = furtherField(key, columns);
    return report.add('JOB318', keySpan, message, { remedy });
  }
  const found = typeOfCell(value);
  if (found === wanted || found === 'dyn' || wanted === 'dyn') return;
  const message = `the field ${quote(key)} is ${FIELD_WORDS[found]} here, and ${FIELD_WORDS[wanted]} in the first row`;
  const remedy = wanted === 'string' ? 'write it in quotes' : null;
  report.add('JOB318', value.span, message, { remedy });
}

/** Text is taken as it stands; `$${{` is how a job writes the characters `${{`. */
function cellOf(name: string, tree: Tree, report: Report): FieldValue {
  if (tree.kind !== 'scalar') return null;
  if (typeof tree.value !== 'string' || tree.open === true) return tree.value;
  const { parts, problems } = parseTemplate(tree.value);
  if (problems.length > 0 || parts.some(({ kind }) => kind === 'expression'))
    report.add('JOB404', tree.span, `the field ${quote(name)} of a row is not interpolated`, {
      remedy: 'an input may stand for the whole value; join texts where the row is used',
    });
  return parts.map((part) => (part.kind === 'literal' ? part.text : '')).join('');
}
