/**
 * The error catalogue, its page, the code and the tests name the same codes (D4).
 */
import ts from 'typescript';
import { codeIn, tablesUnder } from '../markdown.ts';
import { lineOf, parse, walk } from '../syntax.ts';
import { fileAt, isProduct, type RepoFile, type Tree, type Violation } from '../tree.ts';

const CATALOGUE = 'core/error-catalogue.ts';
const PAGE = 'docs/errors.md';

interface Entry {
  readonly code: string;
  readonly line: number;
  readonly status: string;
  readonly retry: string;
}

export function errorCodes(tree: Tree): readonly Violation[] {
  const catalogue = fileAt(tree, CATALOGUE);
  if (catalogue === null) return [`${CATALOGUE}: there is no catalogue`];
  const entries = readCatalogue(catalogue);
  return [...checkPage(entries, fileAt(tree, PAGE)?.text ?? ''), ...checkUse(entries, tree)];
}

/** Reads the literal `ERROR_CATALOGUE`: key, `status` and `retry` of each entry. */
function readCatalogue(file: RepoFile): readonly Entry[] {
  const source = parse(file);
  const entries: Entry[] = [];
  walk(source, (node) => {
    if (!ts.isPropertyAssignment(node) || !ts.isObjectLiteralExpression(node.initializer)) return;
    const fields = new Map(
      node.initializer.properties
        .filter(ts.isPropertyAssignment)
        .map((field) => [field.name.getText(), field.initializer.getText()]),
    );
    entries.push({
      code: node.name.getText(),
      line: lineOf(source, node),
      status: fields.get('status') ?? '',
      retry: fields.get('retry') === 'true' ? 'yes' : 'no',
    });
  });
  return entries;
}

function checkPage(entries: readonly Entry[], page: string): readonly Violation[] {
  const rows = tablesUnder(page, 'code').map((row) => ({
    line: row.line,
    code: codeIn(row.cells[0] ?? '')[0] ?? '',
    status: row.cells[1],
    retry: row.cells[2],
  }));
  const unknown = rows
    .filter((row) => !entries.some((entry) => entry.code === row.code))
    .map((row) => `${PAGE}:${row.line}: "${row.code}" is not in ${CATALOGUE}`);
  const wrong = entries.flatMap((entry) => {
    const row = rows.find((one) => one.code === entry.code);
    if (row === undefined) return [`${CATALOGUE}:${entry.line}: "${entry.code}" has no row in ${PAGE}`];
    if (row.status === entry.status && row.retry === entry.retry) return [];
    return [
      `${PAGE}:${row.line}: "${entry.code}" is ${entry.status}, retry ${entry.retry} in ${CATALOGUE}, and not ${row.status ?? ''}, retry ${row.retry ?? ''}`,
    ];
  });
  return [...unknown, ...wrong];
}

function checkUse(entries: readonly Entry[], tree: Tree): readonly Violation[] {
  const product = tree.filter((file) => isProduct(file.path) && file.path !== CATALOGUE);
  const tests = tree.filter((file) => /^test\/(?!repo\/).*\.test\.ts$/.test(file.path));
  return entries.flatMap((entry) => {
    const problems: Violation[] = [];
    if (!mentions(product, entry.code)) {
      problems.push(`${CATALOGUE}:${entry.line}: "${entry.code}" is never used; report it or remove it`);
    }
    if (!mentions(tests, entry.code)) {
      problems.push(`${CATALOGUE}:${entry.line}: "${entry.code}" is reached by no test`);
    }
    return problems;
  });
}

/** As a string of its own; a code in a comment is no use of it. */
function mentions(files: Tree, code: string): boolean {
  const quoted = new RegExp(`['"\`]${code}['"\`]`);
  return files.some((file) => quoted.test(file.text));
}
