/**
 * Nothing that a peer sends throws out of a callback, which would end the whole process (D31): code that makes a
 * socket or a request listens to its errors for good, and what parses an address or a text where connections are
 * handled cannot throw there.
 */
import ts from 'typescript';
import { lineOf, parse, walk } from '../syntax.ts';
import { isCode, topFolder, type RepoFile, type Tree, type Violation } from '../tree.ts';

/** What on the host speaks with sandboxes and clients. */
const FOLDERS = ['api', 'clients', 'host', 'proxy', 'runtimes'];
const HANDLES_CONNECTIONS = /from '(?:node:http|node:net|ws)'/;
/** Made by these, under whatever name they are imported. */
const MAKERS: Readonly<Record<string, readonly string[]>> = {
  'node:net': ['connect', 'createConnection'],
  'node:http': ['request', 'get'],
};
const THROWING = /^(?:decodeURIComponent|JSON\.parse)$/;

export function peers(tree: Tree): readonly Violation[] {
  return tree
    .filter(
      ({ path, text }) => isCode(path) && FOLDERS.includes(topFolder(path)) && HANDLES_CONNECTIONS.test(text),
    )
    .flatMap(violationsIn);
}

function violationsIn(file: RepoFile): readonly Violation[] {
  const source = parse(file);
  const makers = makersIn(source);
  const found: Violation[] = [];
  walk(source, (node) => {
    const where = `${file.path}:${lineOf(source, node)}`;
    if (ts.isCallExpression(node) && makers.has(node.expression.getText(source)) && !isHeard(node, source))
      found.push(`${where}: its errors end the process; give it a listener with .on('error', …)`);
    if (isThrowing(node, source) && !isCaught(node))
      found.push(`${where}: ${node.getText(source)} may throw out of a callback; use URL.parse, or try`);
  });
  return found;
}

function makersIn(source: ts.SourceFile): ReadonlySet<string> {
  const names = source.statements.filter(ts.isImportDeclaration).flatMap((one) => {
    const made = MAKERS[(one.moduleSpecifier as ts.StringLiteral).text] ?? [];
    const bindings = one.importClause?.namedBindings;
    if (bindings === undefined || !ts.isNamedImports(bindings)) return [];
    return bindings.elements.flatMap(({ name, propertyName }) =>
      made.includes((propertyName ?? name).text) ? [name.text] : [],
    );
  });
  return new Set(names);
}

/** By a listener for good on its name, or by the function of this file that it is passed to. */
function isHeard(call: ts.CallExpression, source: ts.SourceFile): boolean {
  const { parent } = call;
  if (ts.isVariableDeclaration(parent))
    return bodyAround(call)
      .getText(source)
      .includes(`${parent.name.getText(source)}.on('error'`);
  if (!ts.isCallExpression(parent)) return false;
  const taker = parent.expression.getText(source);
  const body = source.statements.find((one) => ts.isFunctionDeclaration(one) && one.name?.text === taker);
  return body?.getText(source).includes(".on('error'") === true;
}

function isThrowing(node: ts.Node, source: ts.SourceFile): boolean {
  if (ts.isCallExpression(node)) return THROWING.test(node.expression.getText(source));
  if (!ts.isNewExpression(node) || node.expression.getText(source) !== 'URL') return false;
  return node.arguments?.some((one) => !ts.isStringLiteral(one)) === true;
}

/** Inside a `try`, in an async function, where it becomes a rejection, or checked before. */
function isCaught(node: ts.Node): boolean {
  for (let at: ts.Node | undefined = node; at !== undefined; at = at.parent) {
    if (ts.isTryStatement(at.parent) && at === at.parent.tryBlock) return true;
    if (ts.isConditionalExpression(at) && at.condition.getText().startsWith('URL.canParse')) return true;
    if (ts.isFunctionLike(at)) return ts.canHaveModifiers(at) && ts.getModifiers(at)?.some(isAsync) === true;
  }
  return false;
}

function isAsync({ kind }: ts.Modifier): boolean {
  return kind === ts.SyntaxKind.AsyncKeyword;
}

function bodyAround(node: ts.Node): ts.Node {
  let at = node;
  while (!ts.isFunctionLike(at) && !ts.isSourceFile(at)) at = at.parent;
  return at;
}
