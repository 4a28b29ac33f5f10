/**
 * What a user can type or set is documented: commands and flags, routes, environment variables.
 */
import ts from 'typescript';
import { lineOf, parse, walk } from '../syntax.ts';
import { fileAt, isCode, isMarkdown, topFolder, type RepoFile, type Tree, type Violation } from '../tree.ts';

const CLI_PAGE = 'docs/cli.md';
const ROUTE_FOLDERS = ['api', 'proxy', 'agent'];
const HTTP_VERBS = ['get', 'post', 'put', 'patch', 'delete', 'head', 'options', 'all'];

interface Mention {
  readonly at: string;
  readonly text: string;
}

/** Every `.command('x')` and `.option('--x')` of the CLI stands in docs/cli.md. */
export function cliDocumented(tree: Tree): readonly Violation[] {
  const page = fileAt(tree, CLI_PAGE)?.text ?? '';
  const files = tree.filter((file) => isCode(file.path) && topFolder(file.path) === 'cli');
  return files.flatMap((file) => [
    ...cliCommands(file)
      .filter((one) => !page.includes(`parley ${behind(file)}${one.text}`))
      .map((one) => `${one.at}: command "${one.text}" is not in ${CLI_PAGE}`),
    ...cliFlags(file)
      .filter((one) => !hasWord(page, one.text))
      .map((one) => `${one.at}: flag "${one.text}" is not in ${CLI_PAGE}`),
  ]);
}

/** Commands about Temporal stand behind another. */
const behind = ({ path }: RepoFile): string => (path.startsWith('cli/temporal/') ? 'temporal ' : '');

export function cliCommands(file: RepoFile): readonly Mention[] {
  return matches(file, /(?:\.command|new (?:Cli)?Command)\(\s*['"`]([a-z][a-z-]*)/g);
}

/** Long flags, without their value. */
export function cliFlags(file: RepoFile): readonly Mention[] {
  const calls = matches(file, /(?:\.option|\.requiredOption|new Option)\(\s*['"`]([^'"`]+)/g);
  return calls.flatMap((one) =>
    [...one.text.matchAll(/--[a-z][a-z-]*/g)].map((flag) => ({ at: one.at, text: flag[0] })),
  );
}

/** Every route that a server registers stands in a page of docs/, with its parameters in any notation. */
export function routesDocumented(tree: Tree): readonly Violation[] {
  const pages = tree.filter((file) => isMarkdown(file.path) && topFolder(file.path) === 'docs');
  const text = anonymous(pages.map((file) => file.text).join('\n'));
  return tree
    .filter((file) => isCode(file.path) && ROUTE_FOLDERS.includes(topFolder(file.path)))
    .flatMap(routesOf)
    .filter((one) => !hasWord(text, anonymous(one.text)))
    .map((one) => `${one.at}: route "${one.text}" is in no page of docs/`);
}

/** `app.get('/x', f)`, `{ method, url: '/x', handler }`, `('GET', '/x')`, and paths that a loop registers. */
export function routesOf(file: RepoFile): readonly Mention[] {
  const source = parse(file);
  const found: Mention[] = [];
  walk(source, (node) => {
    if (!ts.isStringLiteralLike(node) || !node.text.startsWith('/') || node.text === '/') return;
    if (isRoute(node)) found.push({ at: `${file.path}:${lineOf(source, node)}`, text: node.text });
  });
  return found;
}

function isRoute(node: ts.StringLiteralLike): boolean {
  const parent = node.parent;
  if (ts.isPropertyAssignment(parent)) {
    if (!['url', 'path', 'route'].includes(parent.name.getText())) return false;
    const siblings = parent.parent.properties.map((property) => property.name?.getText() ?? '');
    return siblings.includes('method') && siblings.includes('handler');
  }
  if (!ts.isCallExpression(parent) && !ts.isArrayLiteralExpression(parent)) return false;
  if (isListOfPaths(parent)) return true;
  const list = ts.isCallExpression(parent) ? parent.arguments : parent.elements;
  const before = list[list.indexOf(node) - 1];
  if (before !== undefined) return ts.isStringLiteralLike(before) && isVerb(before.text);
  const callee = ts.isCallExpression(parent) ? parent.expression : null;
  return callee !== null && ts.isPropertyAccessExpression(callee) && isServerVerb(callee, list);
}

/** `for (const path of ['/x'])` and `const paths = ['/x']`. */
function isListOfPaths(node: ts.Node): boolean {
  if (!ts.isArrayLiteralExpression(node)) return false;
  const parent = node.parent;
  if (ts.isForOfStatement(parent)) return /path|route/i.test(parent.initializer.getText());
  return ts.isVariableDeclaration(parent) && /path|route/i.test(parent.name.getText());
}

/** A handler beside the address distinguishes a server's `get` from a map's or a client's. */
function isServerVerb(callee: ts.PropertyAccessExpression, list: ts.NodeArray<ts.Expression>): boolean {
  return HTTP_VERBS.includes(callee.name.text) && list.length > 1;
}

function isVerb(text: string): boolean {
  return text === text.toUpperCase() && HTTP_VERBS.includes(text.toLowerCase());
}

function anonymous(text: string): string {
  return text.replaceAll(/\{[^}/\s]+\}|:[a-z][A-Za-z_]*/g, '{}');
}

/** Every variable the programs read stands in a page. */
export function environmentDocumented(tree: Tree): readonly Violation[] {
  const pages = tree.filter((file) => isMarkdown(file.path)).map((file) => file.text);
  const text = pages.join('\n');
  const seen = new Set<string>();
  return tree
    .filter((file) => isCode(file.path) && topFolder(file.path) !== 'test')
    .flatMap((file) => matches(file, /\b((?:PARLEY|OH)_[A-Z0-9_]*[A-Z0-9])\b/g))
    .filter((one) => !hasWord(text, one.text) && !seen.has(one.text) && seen.add(one.text))
    .map(
      (one) =>
        `${one.at}: environment variable "${one.text}" is in no page; name it in docs/configuration.md`,
    );
}

function matches(file: RepoFile, pattern: RegExp): readonly Mention[] {
  return [...file.text.matchAll(pattern)].map((match) => ({
    at: `${file.path}:${file.text.slice(0, match.index).split('\n').length}`,
    text: match[1] ?? '',
  }));
}

/** `word` in `text`, and not as the beginning of a longer word. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    if (!/[\w-]/.test(text[at + word.length] ?? '') && !/\w/.test(text[at - 1] ?? '')) return true;
  }
  return false;
}
