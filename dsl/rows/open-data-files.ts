/**
 * What the conversations of a job are run over: for each that has `items`, its rows and their columns.
 * Owns finding and opening data files, whose rows are read when the conversation is expanded.
 */
import type { Diagnostic } from '../check/diagnostic.ts';
import { joinPath, folderOf } from '../local-path.ts';
import type { FieldType, FieldTypes, FieldValue } from '../plan/plan-scope.ts';
import { parseTemplate } from '../plan/template.ts';
import { quote } from '../read/quote.ts';
import type { Report } from '../check/report.ts';
import { LOCAL_PATH } from '../schema/text-rule.ts';
import type { Span } from '../read/text-position.ts';
import { childOf, entryOf, textOf, type Tree, type TreeEntry, entriesOf, itemsOf } from '../read/tree.ts';
import { FILE_PROBLEM_WORDS, type FileProblem, type JobWorld, type RowsRead } from '../world.ts';
import { conversationsOf } from '../plan/entries.ts';
import { CODE_HOST_KINDS } from '../../core/plan/plan-issue.ts';
import { fieldTypeOf, furtherField, missingField, otherType, type Misfit } from './field-type.ts';
import { fileRows } from './file-rows.ts';
import { readCsv, type CsvFile } from './csv-rows.ts';
import { unread, type DataFile } from './data-file.ts';
import { issueRows } from './issue-rows.ts';
import { readJsonl } from './jsonl-rows.ts';
import type { Row, RowProblem } from './row.ts';
import { rowText } from './row-text.ts';

/** By the tree of the conversation. */
export type DataFiles = ReadonlyMap<Tree, DataFile>;

interface OpenContext {
  readonly root: Tree;
  readonly report: Report;
  readonly world: JobWorld;
}

export function openDataFiles(context: OpenContext): DataFiles {
  const files = new Map<Tree, DataFile>();
  for (const { tree } of conversationsOf(context.root)) {
    const items = childOf(tree, 'items');
    if (items?.kind === 'map') files.set(tree, openOne(tree, items, context));
  }
  return files;
}

const SOURCES: readonly string[] = ['csv', 'jsonl', 'glob', 'list', ...CODE_HOST_KINDS];

function openOne(conversation: Tree, items: Tree, { root, report, world }: OpenContext): DataFile {
  const [named, other] = SOURCES.flatMap((key) => entryOf(items, key) ?? []);
  if (named === undefined || other !== undefined) {
    const place = entryOf(conversation, 'items')?.keySpan ?? items.span;
    const message =
      named === undefined ? '"items" names no file and has no list' : '"items" names its rows twice';
    report.add('JOB317', place, message, {
      remedy: 'write one of "csv", "jsonl", "glob", "list", "github", "gitlab" and "gitea"',
    });
    return unread('');
  }
  const from = entryOf(items, 'from');
  if (from !== undefined) return stageRows({ from, named }, { root: items, report, world });
  if (CODE_HOST_KINDS.some((kind) => kind === named.key))
    return issueRows(named, { root, conversation, report, world });
  if (named.key === 'list') return listedRows(named.value, report);
  if (named.key === 'glob') return fileRows(items, { report, world });
  const path = textOf(named.value);
  if (path === null || !LOCAL_PATH.pattern.test(path)) return unread('');
  const file = joinPath(folderOf(report.fileAt(0)), path);
  const read = (): RowsRead => world.readRows?.(path) ?? { problem: 'missing' };
  const opened = read();
  if ('problem' in opened) {
    addUnreadable(opened.problem, path, { tree: named.value, report });
    return unread(file);
  }
  const parse = named.key === 'jsonl' ? readJsonl : readCsv;
  const first = parse(rowText(opened.chunks));
  if ('message' in first) {
    report.adopt([rowFinding('JOB317', file, first)]);
    return unread(file);
  }
  return { file, spoken: file, columns: first.columns, rows: () => again(first, read, parse) };
}

/** Rows that an earlier stage of the run writes: before a run, and until that stage has ended, they are not known. */
function stageRows(
  { from, named }: { readonly from: TreeEntry; readonly named: TreeEntry },
  { report, world }: OpenContext,
): DataFile {
  const [entry, file] = [textOf(from.value), textOf(named.value)];
  if (named.key !== 'jsonl') {
    report.add('JOB317', named.keySpan, `rows that ${quote(entry ?? '')} writes are JSON lines`, {
      remedy: 'write "jsonl" beside "from"',
    });
    return unread('');
  }
  if (entry === null || file === null || !LOCAL_PATH.pattern.test(file)) return unread('');
  const spoken = `${quote(file)} of ${entry}`;
  const read = (): RowsRead | 'pending' => world.readStageRows?.(entry, file) ?? 'pending';
  const opened = read();
  if (opened === 'pending') return { ...unread(''), spoken, awaits: { entry, file } };
  if ('problem' in opened) {
    report.add('JOB303', named.value.span, `${entry} has left no file ${quote(file)} among its results`, {
      remedy: `have it written, and kept with "collect: [{ files: [${file}] }]"`,
    });
    return unread('');
  }
  const first = readJsonl(rowText(opened.chunks));
  if ('message' in first) {
    report.adopt([rowFinding('JOB317', spoken, first)]);
    return unread('');
  }
  const reopen = (): RowsRead => {
    const again = read();
    return again === 'pending' ? { problem: 'missing' } : again;
  };
  return { file: spoken, spoken, columns: first.columns, rows: () => again(first, reopen, readJsonl) };
}

/** Opened anew: rows can be taken once, and a scenario plans a job twice. */
function again(
  { rows }: CsvFile,
  reopen: () => RowsRead,
  parse: (chunks: Iterable<string | RowProblem>) => CsvFile | RowProblem,
): Iterable<Row | RowProblem> {
  const opened = reopen();
  if ('problem' in opened) return rows;
  const file = parse(rowText(opened.chunks));
  return 'message' in file ? [file] : file.rows;
}

function addUnreadable(
  problem: FileProblem,
  path: string,
  { tree, report }: { readonly tree: Tree; readonly report: Report },
): void {
  const isMissing = problem === 'missing';
  const message = `the data file ${quote(path)} ${FILE_PROBLEM_WORDS[problem]}`;
  report.add(isMissing ? 'JOB303' : 'JOB305', tree.span, message, {
    remedy: isMissing ? 'paths are relative to the job file' : null,
  });
}

/** A finding inside a data file, which has no offsets of the job. */
export function rowFinding(
  code: 'JOB317' | 'JOB318',
  file: string,
  { line, message, remedy }: RowProblem,
): Diagnostic {
  return { code, severity: 'error', message, file, line, column: 1, endLine: line, endColumn: 1, remedy };
}

const SPOKEN = '"items"';

/**
 * Rows that stand in the job itself, under `items`; the first says which fields there are, and of what type.
 * Owns that all have the same fields, each finding at its place; what a cell may be is the schema's.
 */
function listedRows(list: Tree, report: Report): DataFile {
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
    addMisfit(missingField(name), place, report);
  for (const entry of entries) checkCell(entry, columns, report);
}

function checkCell({ key, keySpan, value }: TreeEntry, columns: FieldTypes, report: Report): void {
  const wanted = Object.hasOwn(columns, key) ? columns[key] : undefined;
  if (wanted === undefined) return addMisfit(furtherField(key, columns), keySpan, report);
  const found = typeOfCell(value);
  if (found === wanted || found === 'dyn' || wanted === 'dyn') return;
  const remedy = wanted === 'string' ? 'write it in quotes' : null;
  report.add('JOB318', value.span, otherType(key, found, wanted), { remedy });
}

function addMisfit({ message, remedy }: Misfit, span: Span, report: Report): void {
  report.add('JOB318', span, message, { remedy });
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
