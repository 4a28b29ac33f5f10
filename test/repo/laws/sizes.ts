/**
 * Sizes: lines of a file, lines of a function.
 */
import ts from 'typescript';
import { lineOf, parse, walk } from '../syntax.ts';
import { isCode, topFolder, type RepoFile, type Tree, type Violation } from '../tree.ts';

/** A file that holds one noun and its verbs fits; a test file may carry a table beside. */
export const FILE_LINES_MAX = 300;
const TEST_FILE_LINES_MAX = 400;
/** A function that fits a screen. */
const FUNCTION_LINES_MAX = 70;
/** Calls of the test runner whose callback is a list of tests, not a function. */
const TEST_CALLS = ['describe', 'describeWith', 'it', 'test', 'suite'];

export function fileSizes(tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isCode(file.path))
    .flatMap((file) => {
      const max = topFolder(file.path) === 'test' ? TEST_FILE_LINES_MAX : FILE_LINES_MAX;
      const lines = lineCount(file);
      return lines > max ? [`${file.path}: ${lines} lines, at most ${max}; split it by noun`] : [];
    });
}

export function functionSizes(tree: Tree): readonly Violation[] {
  return tree.filter((file) => isCode(file.path)).flatMap(longFunctions);
}

function longFunctions(file: RepoFile): readonly Violation[] {
  const source = parse(file);
  const isTest = topFolder(file.path) === 'test';
  const found: Violation[] = [];
  walk(source, (node) => {
    if (!ts.isFunctionLike(node) || !('body' in node) || node.body === undefined) return;
    if (isTest && isTestCallback(node)) return;
    const start = lineOf(source, node);
    const lines = linesOf(node, source) - (isTest ? linesOfTests(node, source) : 0);
    if (lines <= FUNCTION_LINES_MAX) return;
    found.push(
      `${file.path}:${start}: ${nameOf(node)} has ${lines} lines, at most ${FUNCTION_LINES_MAX}; move a step into a function named after it`,
    );
  });
  return found;
}

function linesOf(node: ts.Node, source: ts.SourceFile): number {
  return source.getLineAndCharacterOfPosition(node.getEnd()).line + 2 - lineOf(source, node);
}

/** Lines of the tests that a function registers: a suite for several implementations is a list of tests too. */
function linesOfTests(node: ts.Node, source: ts.SourceFile): number {
  let lines = 0;
  ts.forEachChild(node, (child) => {
    lines +=
      ts.isFunctionLike(child) && isTestCallback(child)
        ? linesOf(child, source) - 1
        : linesOfTests(child, source);
  });
  return lines;
}

function isTestCallback(node: ts.Node): boolean {
  if (!ts.isCallExpression(node.parent)) return false;
  let callee: ts.Expression = node.parent.expression;
  while (ts.isPropertyAccessExpression(callee) || ts.isCallExpression(callee)) callee = callee.expression;
  return ts.isIdentifier(callee) && TEST_CALLS.includes(callee.text);
}

function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name !== undefined) return node.name.getText();
  const parent: ts.Node = node.parent;
  if (ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent)) return parent.name.getText();
  return 'a function';
}

export function lineCount(file: RepoFile): number {
  return file.text.split('\n').length - (file.text.endsWith('\n') ? 1 : 0);
}
