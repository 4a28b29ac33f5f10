/**
 * The shape of a source file: an opening paragraph, named exports, a name that says something.
 */
import ts from 'typescript';
import { lineOf, parse } from '../syntax.ts';
import { isCode, isProduct, isTestData, topFolder, type Tree, type Violation } from '../tree.ts';

/** Shorter than this, a comment is a label and not a paragraph. */
const HEADER_CHARACTERS_MIN = 40;

/** Names under which everything ends up, because they refuse nothing. */
const EMPTY_NAMES = ['util', 'utils', 'helper', 'helpers', 'misc', 'common'];

/** Files that a tool calls by their default export. */
const TOOL_CONFIGURATIONS = /^([^/]+\.config|scripts\/failure-reporter)\.(js|ts)$/;

export function headers(tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isCode(file.path))
    .flatMap((file) => {
      const text = file.text.replace(/^#!.*\n/, '').trimStart();
      const comment = /^\/\*[\s\S]*?\*\//.exec(text)?.[0] ?? /^(\/\/.*\n?)+/.exec(text)?.[0] ?? '';
      const words = comment.replaceAll(/[/*\s]+/g, ' ').trim();
      if (words.length >= HEADER_CHARACTERS_MIN) return [];
      return [`${file.path}:1: open the file with a paragraph: what it owns and what it must not do`];
    });
}

export function namedExports(tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isCode(file.path) && !TOOL_CONFIGURATIONS.test(file.path))
    .flatMap((file) => {
      const source = parse(file);
      return source.statements
        .filter(isDefaultExport)
        .map((node) => `${file.path}:${lineOf(source, node)}: default export; export it under its name`);
    });
}

function isDefaultExport(node: ts.Statement): boolean {
  if (ts.isExportAssignment(node)) return true;
  if (ts.isExportDeclaration(node) && node.exportClause && ts.isNamedExports(node.exportClause)) {
    return node.exportClause.elements.some((element) => element.name.text === 'default');
  }
  const modifiers = ts.canHaveModifiers(node) ? (ts.getModifiers(node) ?? []) : [];
  return modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.DefaultKeyword);
}

export function meaningfulNames(tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isCode(file.path) && !isTestData(file.path))
    .flatMap((file) => {
      const parts = file.path.replace(/(\.test)?\.(ts|tsx|js|mjs|cjs)$/, '').split('/');
      const empty = parts.find((part) => EMPTY_NAMES.includes(part) && !isAllowed(file.path, part));
      return empty === undefined
        ? []
        : [`${file.path}: "${empty}" names nothing; name the file after what it owns`];
    });
}

/** test/helpers/ is a folder of set-up that tests share; no product folder may have one. */
function isAllowed(name: string, part: string): boolean {
  return part === 'helpers' && topFolder(name) === 'test' && !isProduct(name);
}
