/**
 * Imports go one way: a folder imports only what its row in ARCHITECTURE.md names.
 * The table is the rule; this file only reads it.
 */
import { codeIn, tableUnder } from '../markdown.ts';
import { importsOf, targetOf } from '../syntax.ts';
import { fileAt, isCode, type RepoFile, type Tree, type Violation } from '../tree.ts';

interface Layer {
  readonly folder: string;
  readonly values: ReadonlySet<string>;
  readonly types: ReadonlySet<string>;
}

export function layers(tree: Tree): readonly Violation[] {
  const table = readLayers(fileAt(tree, 'ARCHITECTURE.md')?.text ?? '');
  if (table.length === 0)
    return ['ARCHITECTURE.md: no table with the columns "folder | may import | must never contain"'];
  return tree
    .filter((file) => isCode(file.path) && file.path.includes('/'))
    .flatMap((file) => checkFile(file, table));
}

/** Rows of the table; "everything except …" is resolved against all rows, and "(types)" after a name means types only. */
function readLayers(text: string): readonly Layer[] {
  const rows = tableUnder(text, 'folder');
  const folders = rows.map((row) => (codeIn(row.cells[0] ?? '')[0] ?? '').replace(/\/$/, ''));
  return rows.map((row, index) => {
    const cell = row.cells[1] ?? '';
    const named = [...cell.matchAll(/`([^`]+)`( \(types\))?/g)];
    const names = named.map((match) => (match[1] ?? '').replace(/\/$/, ''));
    const values = cell.startsWith('everything')
      ? folders.filter((folder) => !names.includes(folder))
      : names.filter((_, at) => named[at]?.[2] === undefined);
    return {
      folder: folders[index] ?? '',
      values: new Set(values),
      types: new Set(cell.startsWith('everything') ? values : names),
    };
  });
}

function checkFile(file: RepoFile, table: readonly Layer[]): readonly Violation[] {
  const layer = layerOf(file.path, table);
  if (layer === null) return [`${file.path}: its folder has no row in the table of ARCHITECTURE.md`];
  return importsOf(file).flatMap((one) => {
    const target = targetOf(file, one.specifier);
    const to = target === null ? null : (layerOf(target, table)?.folder ?? null);
    if (to === null || to === layer.folder || layer.values.has(to)) return [];
    if (one.typeOnly && layer.types.has(to)) return [];
    const kind = layer.types.has(to) ? 'only types of' : 'nothing of';
    return [`${file.path}:${one.line}: ${layer.folder}/ may import ${kind} ${to}/ (${one.specifier})`];
  });
}

/** The most specific row: a program nested in a folder has a row of its own. */
function layerOf(name: string, table: readonly Layer[]): Layer | null {
  const matching = table.filter((layer) => name.startsWith(`${layer.folder}/`));
  matching.sort((a, b) => b.folder.length - a.folder.length);
  return matching[0] ?? null;
}
