/**
 * The pure folders ask nothing of the world, and tests draw chance from a seed: each banned word names what to write
 * instead.
 */
import { isBuiltin } from 'node:module';
import ts from 'typescript';
import { importsOf, lineOf, parse, walk } from '../syntax.ts';
import { isCode, topFolder, type RepoFile, type Tree, type Violation } from '../tree.ts';

const PURE_FOLDERS = ['core', 'dsl', 'simulator'];

/** Global → replacement. A member after a dot narrows the ban to that member. */
const BANNED: Readonly<Record<string, string>> = {
  'Date.now': 'take `now` as a parameter',
  'Math.random': 'take the value in an event, or derive it from an id',
  setTimeout: 'name the instant in `deadline(state)`',
  setInterval: 'name the instant in `deadline(state)`',
  setImmediate: 'return a command',
  queueMicrotask: 'return a command',
  process: 'take the value as a parameter',
  console: 'return the fact as data',
  require: 'import a file of core/ or dsl/',
  crypto: 'take the id in an event, or the hash function as a parameter',
  performance: 'take `now` as a parameter',
};

/** Where chance is drawn from a listed seed, so that a failure can be had again. */
const SEEDED_FOLDERS = ['bench', 'test', 'testing'];

/** No run of a test or a bench differs from another by chance alone. */
export function chanceIsSeeded(tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isCode(file.path) && SEEDED_FOLDERS.includes(topFolder(file.path)))
    .flatMap((file) => {
      const source = parse(file);
      const found: Violation[] = [];
      walk(source, (node) => {
        if (ts.isCallExpression(node) && node.expression.getText(source) === 'Math.random')
          found.push(
            `${file.path}:${lineOf(source, node)}: Math.random; draw it from a RandomStream and a listed seed`,
          );
      });
      return found;
    });
}

export function bannedCalls(tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isCode(file.path) && PURE_FOLDERS.includes(topFolder(file.path)))
    .flatMap((file) => [...bannedImports(file), ...bannedNodes(file)]);
}

function bannedImports(file: RepoFile): readonly Violation[] {
  return importsOf(file)
    .filter((one) => isBuiltin(one.specifier))
    .map((one) => `${file.path}:${one.line}: import of ${one.specifier}; state what is needed as a port`);
}

function bannedNodes(file: RepoFile): readonly Violation[] {
  const source = parse(file);
  const found: Violation[] = [];
  walk(source, (node) => {
    const problem = problemAt(node, topFolder(file.path));
    if (problem !== null) found.push(`${file.path}:${lineOf(source, node)}: ${problem}`);
  });
  return found;
}

function problemAt(node: ts.Node, folder: string): string | null {
  if (ts.isIdentifier(node)) return identifierProblem(node);
  if ((ts.isNewExpression(node) || ts.isCallExpression(node)) && isClockDate(node)) {
    return 'new Date(); take `now` as a parameter';
  }
  if (folder === 'core' && isAsync(node))
    return 'await or async; return a command, its answer comes back as an event';
  return null;
}

function identifierProblem(node: ts.Identifier): string | null {
  if (!isGlobalUse(node)) return null;
  const parent = node.parent;
  const member =
    ts.isPropertyAccessExpression(parent) && parent.expression === node
      ? `${node.text}.${parent.name.text}`
      : null;
  const banned = [node.text, member].find((name) => name !== null && Object.hasOwn(BANNED, name));
  return banned === undefined || banned === null ? null : `${banned}; ${BANNED[banned] ?? ''}`;
}

/** False for names of members, keys, declarations and types, which only look like the global. */
function isGlobalUse(node: ts.Identifier): boolean {
  const parent = node.parent;
  if (ts.isPropertyAccessExpression(parent))
    return parent.expression === node || parent.expression.getText() === 'globalThis';
  if (ts.isPropertyAssignment(parent)) return parent.initializer === node;
  return ts.isCallExpression(parent) || ts.isNewExpression(parent) || ts.isVariableDeclaration(parent)
    ? !('name' in parent && parent.name === node)
    : false;
}

/** `new Date()` and `Date()` read the clock; `new Date(ms)` only formats. */
function isClockDate(node: ts.NewExpression | ts.CallExpression): boolean {
  if (!ts.isIdentifier(node.expression) || node.expression.text !== 'Date') return false;
  return ts.isCallExpression(node) || (node.arguments ?? []).length === 0;
}

function isAsync(node: ts.Node): boolean {
  return ts.isAwaitExpression(node) || node.kind === ts.SyntaxKind.AsyncKeyword;
}
