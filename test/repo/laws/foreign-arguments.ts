/**
 * No value becomes an option of Git on the host: what may come out of a sandbox, a job or a code host stands behind
 * `--end-of-options`, `--`, or the name of an option that takes it (D31).
 */
import ts from 'typescript';
import { lineOf, parse, walk } from '../syntax.ts';
import { isCode, topFolder, type RepoFile, type Tree, type Violation } from '../tree.ts';

/** What runs on the host; inside a sandbox an option harms that sandbox only. */
const FOLDERS = ['activities', 'cli', 'clients', 'engine', 'host', 'runtimes', 'store', 'temporal'];
const CALLS_GIT = /'git'|scratch-git\.ts'/;
const SUBCOMMAND =
  /^(?:add|apply|cat-file|checkout|clone|commit|commit-tree|config|diff|fetch|for-each-ref|init|log)$|^(?:ls-remote|ls-tree|merge|merge-base|pull|push|read-tree|rebase|reset|rev-list|rev-parse|show|worktree)$/;
const ENDS = ['--end-of-options', '--'];
/** Of these the next argument is the value, whatever it begins with. */
const TAKES_VALUE = ['-p', '-C', '-c', '-m'];

export function foreignArguments(tree: Tree): readonly Violation[] {
  return tree
    .filter(({ path, text }) => isCode(path) && FOLDERS.includes(topFolder(path)) && CALLS_GIT.test(text))
    .flatMap(violationsIn);
}

function violationsIn(file: RepoFile): readonly Violation[] {
  const source = parse(file);
  const found: Violation[] = [];
  walk(source, (node) => {
    if (!ts.isArrayLiteralExpression(node) || !isArgumentList(node)) return;
    const foreign = firstForeign(node);
    if (foreign !== null)
      found.push(
        `${file.path}:${lineOf(source, foreign)}: ${foreign.getText(source)} may be taken for an option; put '--end-of-options' before it`,
      );
  });
  return found;
}

/** It begins with a command of Git, or goes on with what another list began. */
function isArgumentList({ elements }: ts.ArrayLiteralExpression): boolean {
  const [first] = elements;
  if (first === undefined) return false;
  if (ts.isStringLiteral(first)) return SUBCOMMAND.test(first.text);
  return (
    ts.isSpreadElement(first) && elements.some((one) => ts.isStringLiteral(one) && one.text.startsWith('-'))
  );
}

function firstForeign({ elements }: ts.ArrayLiteralExpression): ts.Expression | null {
  for (const [index, element] of elements.entries()) {
    const before = elements[index - 1];
    const option = before !== undefined && ts.isStringLiteral(before) ? before.text : '';
    if (ENDS.includes(option)) return null;
    if (!isOurs(element) && !TAKES_VALUE.includes(option)) return element;
  }
  return null;
}

/** Written here, or begun here with `--name=`; a spread is a list of its own, and judged where it is written. */
function isOurs(element: ts.Expression): boolean {
  if (ts.isStringLiteralLike(element) || ts.isSpreadElement(element)) return true;
  return ts.isTemplateExpression(element) && /^--[a-z-]+=|^[+a-z]/.test(element.head.text);
}
