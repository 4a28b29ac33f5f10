/**
 * Questions about source text, answered from TypeScript's syntax tree (never from types).
 * Owns parsing and the cache of parsed files; must not know a law.
 */
import { isBuiltin } from 'node:module';
import path from 'node:path';
import ts from 'typescript';
import { topFolder, type RepoFile, type Tree } from './tree.ts';

export interface Import {
  /** As written. */
  readonly specifier: string;
  readonly line: number;
  /** True when nothing of it is left at run time. */
  readonly typeOnly: boolean;
}

const parsed = new WeakMap<RepoFile, ts.SourceFile>();

export function parse(file: RepoFile): ts.SourceFile {
  let source = parsed.get(file);
  if (source === undefined) {
    source = ts.createSourceFile(file.path, file.text, ts.ScriptTarget.Latest, true, kindOf(file.path));
    parsed.set(file, source);
  }
  return source;
}

function kindOf(name: string): ts.ScriptKind {
  if (name.endsWith('.tsx')) return ts.ScriptKind.TSX;
  return name.endsWith('.ts') ? ts.ScriptKind.TS : ts.ScriptKind.JS;
}

/** Line of a node's first token, counted from 1. */
export function lineOf(source: ts.SourceFile, node: ts.Node): number {
  return source.getLineAndCharacterOfPosition(node.getStart(source)).line + 1;
}

/** Calls `visit` on every node, parents first. */
export function walk(node: ts.Node, visit: (node: ts.Node) => void): void {
  visit(node);
  ts.forEachChild(node, (child) => {
    walk(child, visit);
  });
}

/** Static imports, re-exports, dynamic imports of a literal, and `import('…')` types. */
export function importsOf(file: RepoFile): readonly Import[] {
  const source = parse(file);
  const found: Import[] = [];
  walk(source, (node) => {
    const one = importAt(node);
    if (one !== null) found.push({ ...one, line: lineOf(source, node) });
  });
  return found;
}

function importAt(node: ts.Node): Omit<Import, 'line'> | null {
  if (ts.isImportDeclaration(node) && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, typeOnly: isTypeImport(node) };
  }
  if (ts.isExportDeclaration(node) && node.moduleSpecifier && ts.isStringLiteral(node.moduleSpecifier)) {
    return { specifier: node.moduleSpecifier.text, typeOnly: node.isTypeOnly };
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const first = node.arguments[0];
    return first && ts.isStringLiteral(first) ? { specifier: first.text, typeOnly: false } : null;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    return ts.isStringLiteral(node.argument.literal)
      ? { specifier: node.argument.literal.text, typeOnly: true }
      : null;
  }
  return null;
}

function isTypeImport(node: ts.ImportDeclaration): boolean {
  const clause = node.importClause;
  if (clause === undefined) return false;
  if (clause.phaseModifier === ts.SyntaxKind.TypeKeyword) return true;
  const named = clause.namedBindings;
  if (clause.name !== undefined || named === undefined || !ts.isNamedImports(named)) return false;
  return named.elements.length > 0 && named.elements.every((element) => element.isTypeOnly);
}

/** Path inside the repository that a relative import names; null for packages and built-in modules. */
export function targetOf(file: RepoFile, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  return path.posix.normalize(path.posix.join(path.posix.dirname(file.path), specifier));
}

/** Name of the package an import comes from; null for relative imports and built-in modules. */
export function packageOf(specifier: string): string | null {
  if (specifier.startsWith('.') || specifier.startsWith('/') || isBuiltin(specifier)) return null;
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : (parts[0] ?? null);
}

/** Imports between files of the tree: path → paths, in order of appearance. */
export function importGraph(tree: Tree, files: readonly RepoFile[]): ReadonlyMap<string, readonly string[]> {
  const known = new Set(tree.map((file) => file.path));
  return new Map(
    files.map((file) => {
      const targets = importsOf(file).flatMap((one) => targetOf(file, one.specifier) ?? []);
      return [file.path, [...new Set(targets)].filter((target) => known.has(target))];
    }),
  );
}

/** What `files` import by name from other top folders: for each path the names. */
export function namesAskedFor(files: readonly RepoFile[]): ReadonlyMap<string, ReadonlySet<string>> {
  const asked = new Map<string, Set<string>>();
  for (const file of files)
    for (const node of parse(file).statements) {
      if (!ts.isImportDeclaration(node) || !ts.isStringLiteral(node.moduleSpecifier)) continue;
      const target = targetOf(file, node.moduleSpecifier.text);
      const named = node.importClause?.namedBindings;
      if (target === null || named === undefined || !ts.isNamedImports(named)) continue;
      if (topFolder(target) === topFolder(file.path)) continue;
      const names = asked.get(target) ?? new Set();
      asked.set(target, names);
      for (const one of named.elements) names.add((one.propertyName ?? one.name).text);
    }
  return asked;
}
