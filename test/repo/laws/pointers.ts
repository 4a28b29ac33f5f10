/**
 * What the pages for new readers point to is there: files, folders, and the names that stand beside a file; and so are
 * the folders that a law looks into, which would hold over nothing once they were moved.
 * Owns which parts of which pages are held to it; whether a sentence about a file is true no test can check.
 */
import { posix } from 'node:path';
import ts from 'typescript';
import { codeIn, proseLines, tablesUnder, tableUnder, type Row } from '../markdown.ts';
import { parse, walk } from '../syntax.ts';
import {
  fileAt,
  isCode,
  isMarkdown,
  isProduct,
  topFolder,
  type RepoFile,
  type Tree,
  type Violation,
} from '../tree.ts';

const WALKS = 'docs/walks.md';
const ROOMS = 'docs/rooms.md';
const MAP = 'ARCHITECTURE.md';
const RECIPES = 'CONTRIBUTING.md';

/** Folders and a name, without a blank; addresses of routes begin with a slash. */
const PATH = /^(?:[\w.@-]+\/)+[\w.@-]*$/;
/** What a recipe leaves to its reader. */
const PLACEHOLDER = /^NAME\b/;

/** Where a page points, and from which line. */
interface Pointer {
  readonly at: string;
  readonly path: string;
}

/** Every path in backticks of the walks, of the questions in ARCHITECTURE.md, and of the recipes exists. */
export function pathsExist(tree: Tree): readonly Violation[] {
  const names = new Set(tree.map(({ path }) => path));
  const folders = new Set(tree.flatMap(({ path }) => foldersOf(path)));
  return [...walkLines(tree), ...questionLines(tree), ...recipeLines(tree)]
    .filter(({ path }) => !names.has(path) && !folders.has(path.replace(/\/$/, '')))
    .map(({ at, path }) => `${at}: there is no "${path}"`);
}

function walkLines(tree: Tree): readonly Pointer[] {
  return proseLines(fileAt(tree, WALKS)?.text ?? '').flatMap(({ line, text }) =>
    pointersIn(WALKS, line, text),
  );
}

function questionLines(tree: Tree): readonly Pointer[] {
  return questions(tree).flatMap(({ line, cells }) => pointersIn(MAP, line, cells.join(' ')));
}

/** Of a path that a reader completes, the folder. */
function recipeLines(tree: Tree): readonly Pointer[] {
  return proseLines(fileAt(tree, RECIPES)?.text ?? '')
    .filter(({ text }) => /^\d+\. /.test(text))
    .flatMap(({ line, text }) => pointersIn(RECIPES, line, text))
    .map(({ at, path }) => {
      const parts = path.split('/');
      const open = parts.findIndex((part) => PLACEHOLDER.test(part));
      return { at, path: open === -1 ? path : `${parts.slice(0, open).join('/')}/` };
    });
}

function pointersIn(page: string, line: number, text: string): readonly Pointer[] {
  return codeIn(text)
    .filter((code) => PATH.test(code))
    .map((path) => ({ at: `${page}:${line}`, path }));
}

function foldersOf(name: string): readonly string[] {
  const parts = name.split('/').slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Every name beside a file, in the walks and in the questions, is declared in that file. */
export function namesDeclared(tree: Tree): readonly Violation[] {
  return [
    ...steps(tree).flatMap(({ line, cells: [file = '', names = ''] }) =>
      undeclared(tree, { at: `${WALKS}:${line}`, file, names }),
    ),
    ...questions(tree).flatMap(({ line, cells: [, file = '', names = ''] }) =>
      undeclared(tree, { at: `${MAP}:${line}`, file, names }),
    ),
  ];
}

function undeclared(
  tree: Tree,
  { at, file: cell, names }: { readonly at: string; readonly file: string; readonly names: string },
): readonly Violation[] {
  const path = codeIn(cell)[0] ?? '';
  const wanted = codeIn(names);
  const file = fileAt(tree, path);
  if (wanted.length === 0 || file === null || !isCode(path)) return [];
  const known = declaredIn(file);
  return wanted
    .filter((name) => !known.has(name))
    .map((name) => `${at}: "${name}" is not declared in ${path}`);
}

/** Functions, classes, types, variables, and members that are functions; a word of a message is none of them. */
function declaredIn(file: RepoFile): ReadonlySet<string> {
  const names = new Set<string>();
  walk(parse(file), (node) => {
    const name = declaredAt(node);
    if (name !== undefined && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name))) names.add(name.text);
  });
  return names;
}

function declaredAt(node: ts.Node): ts.Node | undefined {
  if (ts.isPropertyAssignment(node)) return isFunction(node.initializer) ? node.name : undefined;
  const isDeclaration =
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isGetAccessorDeclaration(node);
  return isDeclaration ? node.name : undefined;
}

function isFunction(node: ts.Expression): boolean {
  return ts.isArrowFunction(node) || ts.isFunctionExpression(node);
}

/** "Enters `x/` and `y/` again: because …" */
const AGAIN = /^Enters (.+) again: /;
/** Before a file: it is called from the line above, and returns there. Twice: from the one before that. */
const CALLED = /↳/g;

/**
 * A walk enters no room twice but to return, or says which and why. What stands apart below a heading of its own, such
 * as the places in which another driver differs, is no part of it.
 */
export function roomsEnteredOnce(tree: Tree): readonly Violation[] {
  const lines = proseLines(fileAt(tree, WALKS)?.text ?? '');
  const starts = lines.filter(({ text }) => text.startsWith('## '));
  return starts.flatMap(({ line, text }, index) => {
    const end = starts[index + 1]?.line ?? Number.POSITIVE_INFINITY;
    const own = lines.filter((one) => one.line > line && one.line < end);
    const apart = own.find((one) => one.text.startsWith('### '))?.line ?? end;
    const again = enteredAgain(steps(tree).filter((row) => row.line > line && row.line < apart));
    const said = new Set(own.flatMap((one) => codeIn(AGAIN.exec(one.text)?.[1] ?? '')));
    const at = `${WALKS}:${line}: "${text.slice(3)}" enters`;
    return [
      ...[...again]
        .filter((room) => !said.has(room))
        .map((room) => `${at} ${room} again and does not say why`),
      ...[...said].filter((room) => !again.has(room)).map((room) => `${at} ${room} once, and says "again"`),
    ];
  });
}

function enteredAgain(rows: readonly Row[]): ReadonlySet<string> {
  const places = rows.map(({ cells: [file = ''] }) => ({
    room: `${topFolder(codeIn(file)[0] ?? '')}/`,
    depth: file.match(CALLED)?.length ?? 0,
  }));
  const entered = places.filter(({ room, depth }, index) => {
    const before = places.slice(0, index).findLast((one) => one.depth <= depth);
    return before?.room !== room;
  });
  const rooms = entered.map(({ room }) => room);
  return new Set(rooms.filter((room, index) => rooms.indexOf(room) < index));
}

/** Lines of the walks: file, function, what it does there. */
function steps(tree: Tree): readonly Row[] {
  return tablesUnder(fileAt(tree, WALKS)?.text ?? '', 'file');
}

/** Rows of "Where do I …": question, file, name. */
function questions(tree: Tree): readonly Row[] {
  return tablesUnder(fileAt(tree, MAP)?.text ?? '', 'where do I …');
}

/** Every folder within a room of the product has its row in docs/rooms.md, and every row its folder. */
export function roomsTold(tree: Tree): readonly Violation[] {
  const rows = tableUnder(fileAt(tree, ROOMS)?.text ?? '', 'folder').map(
    ({ line, cells: [folder = ''] }) => ({
      line,
      folder: codeIn(folder)[0] ?? '',
    }),
  );
  const products = tree.filter(({ path }) => isProduct(path) && path.split('/').length > 2);
  const there = new Set(products.map(({ path }) => `${path.split('/').slice(0, 2).join('/')}/`));
  return [
    ...[...there]
      .filter((folder) => !rows.some((row) => row.folder === folder))
      .map((folder) => `${ROOMS}: no row says what ${folder} owns`),
    ...rows
      .filter(({ folder }) => !there.has(folder))
      .map(({ line, folder }) => `${ROOMS}:${line}: there is no folder ${folder}`),
  ];
}

/** A file of code, as comments and pages name it: alone, by the end of its path, or beside the file that names it. */
const NAMED_FILE = /(?<![\w@/.-])(?:\.{1,2}\/)*(?:[\w.-]+\/)*[\w-]+(?:\.test)?\.tsx?\b/g;
const COMMENT = /^\s*(?:\/?\*|\/\/)/;
const OPEN_NAME = /(?:^|\/)(?:NAME|FILE)\.ts$/;

/** Every file that a comment or a page names exists: after a move the texts that name it are found. */
export function filesNamedExist(tree: Tree): readonly Violation[] {
  const names = new Set(tree.flatMap(({ path }) => endingsOf(path)));
  return tree
    .filter(({ path }) => (isCode(path) || isMarkdown(path)) && !isHistory(path))
    .flatMap((file) =>
      file.text.split('\n').flatMap((text, index) => {
        if (isCode(file.path) && !COMMENT.test(text)) return [];
        return (text.match(NAMED_FILE) ?? [])
          .filter((name) => !names.has(resolved(file.path, name)) && !OPEN_NAME.test(name))
          .map((name) => `${file.path}:${index + 1}: names "${name}", and there is no such file`);
      }),
    );
}

/** History names files as they were; the tests of laws make trees up. */
function isHistory(name: string): boolean {
  return name === 'CHANGELOG.md' || name.startsWith('test/repo/');
}

function endingsOf(name: string): readonly string[] {
  const parts = name.split('/');
  return parts.map((_, index) => parts.slice(index).join('/'));
}

function resolved(from: string, name: string): string {
  return name.startsWith('.') ? posix.normalize(posix.join(posix.dirname(from), name)) : name;
}

/** Lists of folders in the laws: after a move of a folder its law would read nothing, and nothing would say so. */
export function lawsLookSomewhere(tree: Tree): readonly Violation[] {
  const rooms = new Set(tree.map(({ path }) => topFolder(path)));
  return tree
    .filter(({ path }) => path.startsWith('test/repo/laws/'))
    .flatMap((file) =>
      foldersNamed(file)
        .filter((folder) => !rooms.has(folder))
        .map((folder) => `${file.path}: looks into "${folder}", and there is no such folder`),
    );
}

function foldersNamed(file: RepoFile): readonly string[] {
  const found: string[] = [];
  walk(parse(file), (node) => {
    if (!ts.isVariableDeclaration(node) || !/FOLDERS$/.test(node.name.getText())) return;
    const list = node.initializer;
    if (list === undefined || !ts.isArrayLiteralExpression(list)) return;
    found.push(...list.elements.filter(ts.isStringLiteral).map(({ text }) => text));
  });
  return found;
}
