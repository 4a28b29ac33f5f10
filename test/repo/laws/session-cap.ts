/**
 * The 12-hour cap of a session is a constant that nothing reaches (D10): one definition, used by the rules alone, and
 * no flag, variable, schema or key that could stand for it.
 */
import ts from 'typescript';
import { lineOf, parse, walk } from '../syntax.ts';
import {
  isCode,
  isProduct,
  isTestData,
  topFolder,
  type RepoFile,
  type Tree,
  type Violation,
} from '../tree.ts';

const NAME = 'MAX_SESSION_MS';
const HOME = 'core/limits.ts';
const DEFINITION = `export const ${NAME} = 12 * HOUR_MS;`;

/** Names that would stand for the cap. */
const SUSPICIOUS = /max.?session|session.?(limit|duration|length|hours)|twelve|43200/i;

/** Folders in which users meet names: keys, flags, schemas, configuration. */
const USER_FACING = ['dsl', 'cli', 'api', 'proxy', 'agent', 'scripted-gateway', 'bin', 'schema', 'examples'];

interface Allowed {
  readonly name: RegExp;
  readonly why: string;
}

/** Names that speak of the cap without setting it. */
export const ALLOWED: readonly Allowed[] = [
  { name: /^session_limit$/, why: 'the reason of a released pause (D6); a fact, not a setting' },
  { name: /^paused_session_limit$/, why: 'how many pauses had that reason; a count, not a setting' },
  {
    name: /^(wait\.)?(on_session_limit|onSessionLimit)$/,
    why: 'resume or stop after the cap has struck (D15); sets no duration',
  },
];

export function sessionCap(tree: Tree): readonly Violation[] {
  return [...checkDefinition(tree), ...checkUse(tree), ...checkNames(tree), ...checkSchemas(tree)];
}

function checkDefinition(tree: Tree): readonly Violation[] {
  const definitions = tree
    .filter((file) => isCode(file.path) && topFolder(file.path) !== 'test')
    .flatMap((file) => (file.text.includes(DEFINITION) ? [file.path] : []));
  if (definitions.length === 1 && definitions[0] === HOME) return [];
  return [
    `${HOME}: must hold \`${DEFINITION}\`, and no other file; found in: ${definitions.join(', ') || 'none'}`,
  ];
}

/** Outside core/ neither the constant nor its value in numbers. */
function checkUse(tree: Tree): readonly Violation[] {
  const outside = tree.filter((file) => isProduct(file.path) && topFolder(file.path) !== 'core');
  const pattern = new RegExp(`\\b${NAME}\\b|\\b12 \\* (HOUR_MS|60 \\* 60)|\\b43_?200(_?000)?\\b`);
  return outside.flatMap((file) =>
    file.text.split('\n').flatMap((line, index) => {
      const hit = pattern.exec(line)?.[0];
      return hit === undefined
        ? []
        : [`${file.path}:${index + 1}: "${hit}"; only core/ knows the cap of a session (D10)`];
    }),
  );
}

/** Keys, properties and strings without a space: flags, variables and keys look like that, sentences do not. */
function checkNames(tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isCode(file.path) && USER_FACING.includes(topFolder(file.path)))
    .flatMap((file) => {
      const source = parse(file);
      const found: Violation[] = [];
      walk(source, (node) => {
        const name = nameAt(node);
        if (name === null || !SUSPICIOUS.test(name) || isAllowed(name)) return;
        found.push(violation(`${file.path}:${lineOf(source, node)}`, name));
      });
      return [...new Set(found)];
    });
}

function nameAt(node: ts.Node): string | null {
  if (ts.isStringLiteralLike(node)) return /\s/.test(node.text.replace(/ [<[].*$/, '')) ? null : node.text;
  if (
    ts.isPropertyAssignment(node) ||
    ts.isPropertySignature(node) ||
    ts.isShorthandPropertyAssignment(node)
  ) {
    return node.name.getText().replaceAll(/['"`]/g, '');
  }
  return null;
}

/** Schemas and examples are data: every word of theirs counts. */
function checkSchemas(tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isSchema(file))
    .flatMap((file) =>
      file.text.split('\n').flatMap((line, index) =>
        [...line.matchAll(/[\w-]+/g)]
          .map((match) => match[0])
          .filter((word) => SUSPICIOUS.test(word) && !isAllowed(word))
          .map((word) => violation(`${file.path}:${index + 1}`, word)),
      ),
    );
}

function isSchema(file: RepoFile): boolean {
  if (isTestData(file.path) || topFolder(file.path) === 'test' || topFolder(file.path) === 'docs')
    return false;
  return /\.(ya?ml|json)$/.test(file.path) && file.path !== 'package-lock.json';
}

function isAllowed(name: string): boolean {
  return ALLOWED.some((allowed) => allowed.name.test(name));
}

function violation(at: string, name: string): Violation {
  return `${at}: "${name}" looks like a setting for the cap of a session, which has none (D10)`;
}
