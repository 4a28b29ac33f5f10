/**
 * `npm run house [-- --json]`: how the product is laid out, in figures: rooms, sizes, crowded folders, files that could
 * be part of their one importer, arrows that run up, circles, and exports without a word of documentation.
 * Prints and judges nothing; the laws beside it do.
 */
import ts from 'typescript';
import { cycles } from './laws/cycles.ts';
import { layers } from './laws/layers.ts';
import { importGraph, lineOf, namesAskedFor, parse } from './syntax.ts';
import { isProduct, readRepository, topFolder, type RepoFile, type Tree } from './tree.ts';

/** A flat folder with more has a reason: each file is one member of one list. */
export const FLAT_FILES_MAX = 25;
/** A file of so few lines with one importer beside it could be part of that. */
export const SMALL_LINES_MAX = 40;

export interface Room {
  readonly room: string;
  readonly files: number;
  readonly lines: number;
  readonly median: number;
  readonly longest: string;
}

export interface House {
  readonly files: number;
  readonly lines: number;
  readonly rooms: readonly Room[];
  /** Folder, and how many files lie in it. */
  readonly crowded: Readonly<Record<string, number>>;
  /** Small file, and the one file that imports it. */
  readonly single: Readonly<Record<string, string>>;
  readonly upwards: readonly string[];
  readonly circles: readonly string[];
  /** How many exports of a room that others import have no documentation. */
  readonly undocumented: Readonly<Record<string, number>>;
}

export function houseOf(tree: Tree): House {
  const files = tree.filter(({ path }) => isProduct(path));
  return {
    files: files.length,
    lines: files.reduce((sum, file) => sum + linesOf(file), 0),
    rooms: roomsOf(files),
    crowded: crowdedOf(files),
    single: singleOf(tree, files),
    upwards: layers(tree),
    circles: cycles(tree),
    undocumented: undocumentedOf(files),
  };
}

function linesOf({ text }: RepoFile): number {
  return text.split('\n').length - (text.endsWith('\n') ? 1 : 0);
}

function folderOf(name: string): string {
  return name.slice(0, name.lastIndexOf('/'));
}

function grouped(files: readonly RepoFile[], by: (name: string) => string): Map<string, RepoFile[]> {
  const groups = new Map<string, RepoFile[]>();
  for (const file of files) groups.set(by(file.path), [...(groups.get(by(file.path)) ?? []), file]);
  return new Map([...groups].sort(([a], [b]) => a.localeCompare(b)));
}

function roomsOf(files: readonly RepoFile[]): readonly Room[] {
  return [...grouped(files, topFolder)].map(([room, own]) => {
    const sorted = [...own].sort((a, b) => linesOf(a) - linesOf(b));
    const [middle, longest] = [sorted[Math.floor(sorted.length / 2)], sorted.at(-1)];
    return {
      room,
      files: own.length,
      lines: own.reduce((sum, file) => sum + linesOf(file), 0),
      median: middle === undefined ? 0 : linesOf(middle),
      longest: longest === undefined ? '' : `${longest.path} ${linesOf(longest)}`,
    };
  });
}

function crowdedOf(files: readonly RepoFile[]): House['crowded'] {
  const folders = [...grouped(files, folderOf)].map(([folder, own]) => [folder, own.length] as const);
  return Object.fromEntries(folders.filter(([, count]) => count > FLAT_FILES_MAX));
}

function singleOf(tree: Tree, files: readonly RepoFile[]): House['single'] {
  const importers = new Map<string, string[]>();
  for (const [from, targets] of importGraph(tree, files))
    for (const to of new Set(targets)) importers.set(to, [...(importers.get(to) ?? []), from]);
  const small = files.filter((file) => linesOf(file) <= SMALL_LINES_MAX).map(({ path }) => path);
  return Object.fromEntries(
    small.flatMap((name) => {
      const [only, ...others] = importers.get(name) ?? [];
      const isPart = only !== undefined && others.length === 0 && folderOf(only) === folderOf(name);
      return isPart ? [[name, only]] : [];
    }),
  );
}

function undocumentedOf(files: readonly RepoFile[]): House['undocumented'] {
  const asked = namesAskedFor(files);
  const counts = [...grouped(files, topFolder)].map(([room, own]) => {
    const without = own.reduce((sum, file) => sum + bareExports(file, asked.get(file.path)).length, 0);
    return [room, without] as const;
  });
  return Object.fromEntries(counts.filter(([, count]) => count > 0));
}

/**
 * Lines of exported declarations with no comment above them, of those that other rooms ask for by `names`.
 * The opening paragraph of a file speaks for one that exports a single thing; a type that
 * is made of others or of words, and a number that its name explains, need none of their own.
 */
export function bareExports(
  file: RepoFile,
  names: ReadonlySet<string> | 'all' = new Set(),
): readonly number[] {
  const source = parse(file);
  const exported = source.statements.filter(
    (node) =>
      ts.canHaveModifiers(node) &&
      ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) === true,
  );
  if (exported.length === 1) return [];
  return exported
    .filter((node) => names === 'all' || (namesOf(node).some((name) => names.has(name)) && !saysItself(node)))
    .filter((node) => ts.getLeadingCommentRanges(file.text, node.getFullStart()) === undefined)
    .map((node) => lineOf(source, node));
}

function namesOf(node: ts.Statement): readonly string[] {
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.map(({ name }) => name.getText());
  const { name } = node as ts.Statement & { readonly name?: ts.Identifier };
  return name === undefined ? [] : [name.text];
}

/** Another type's part or result, a word, or the keys of something. */
function isPlain(type: ts.TypeNode): boolean {
  return (
    ts.isTypeReferenceNode(type) ||
    ts.isIndexedAccessTypeNode(type) ||
    ts.isLiteralTypeNode(type) ||
    ts.isTypeOperatorNode(type)
  );
}

function saysItself(node: ts.Statement): boolean {
  if (ts.isTypeAliasDeclaration(node))
    return (ts.isUnionTypeNode(node.type) ? node.type.types : [node.type]).every(isPlain);
  if (!ts.isVariableStatement(node)) return false;
  return node.declarationList.declarations.every(
    ({ name, initializer }) =>
      /_(?:MS|BYTES|MAX)$/.test(name.getText()) ||
      (initializer !== undefined && ts.isNumericLiteral(initializer) && /_PER_/.test(name.getText())),
  );
}

function print(house: House): void {
  const out = (line: string): void => void process.stdout.write(`${line}\n`);
  out(`product: ${house.files} files, ${house.lines} lines, ${house.rooms.length} rooms`);
  out('');
  out('room               files   lines  median  longest');
  for (const { room, files, lines, median, longest } of house.rooms)
    out(
      `${room.padEnd(18)} ${String(files).padStart(5)} ${String(lines).padStart(7)} ${String(median).padStart(7)}  ${longest}`,
    );
  const list = (title: string, lines: readonly string[]): void => {
    out('');
    out(`${title}: ${lines.length}`);
    for (const line of lines) out(`  ${line}`);
  };
  list(
    `flat folders of more than ${FLAT_FILES_MAX} files`,
    Object.entries(house.crowded).map(([folder, count]) => `${folder} ${count}`),
  );
  list(
    `files of ${SMALL_LINES_MAX} lines or fewer with one importer, beside it`,
    Object.entries(house.single).map(([file, importer]) => `${file} ← ${importer}`),
  );
  list('arrows that run up', house.upwards);
  list('circles', house.circles);
  list(
    'exports that other rooms import, without documentation',
    Object.entries(house.undocumented).map(([room, count]) => `${room} ${count}`),
  );
}

if (process.argv[1]?.includes('house') === true) {
  const house = houseOf(readRepository());
  if (process.argv.includes('--json')) process.stdout.write(`${JSON.stringify(house, null, 2)}\n`);
  else print(house);
}
