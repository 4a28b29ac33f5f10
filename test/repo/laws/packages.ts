/**
 * Dependencies: each has a reason on its page and a user in the code, and products need no development package.
 */
import { codeIn, tablesUnder } from '../markdown.ts';
import { importsOf, packageOf } from '../syntax.ts';
import { fileAt, isCode, isProduct, topFolder, type Tree, type Violation } from '../tree.ts';

const PAGE = 'docs/dependencies.md';

/** What users of a package provide: matchers extend the runner that the user's tests run in. */
const BROUGHT_BY_USERS: Readonly<Record<string, string>> = { 'testing/vitest.ts': 'vitest' };

/** A program that the build makes whole: at run time nothing of it comes from node_modules. */
const BUNDLED = ['web'];

interface Manifest {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
}

export function dependencies(tree: Tree): readonly Violation[] {
  const manifest = readManifest(tree);
  const names = [
    ...new Set([...Object.keys(manifest.dependencies), ...Object.keys(manifest.devDependencies)]),
  ];
  return [
    ...checkPage(names, fileAt(tree, PAGE)?.text ?? ''),
    ...checkUsed(names, tree),
    ...checkKinds(manifest, tree),
  ];
}

function readManifest(tree: Tree): Manifest {
  const parsed = JSON.parse(fileAt(tree, 'package.json')?.text ?? '{}') as Partial<Manifest> & {
    readonly peerDependencies?: Readonly<Record<string, string>>;
  };
  // What is loaded only when it is asked for, a user installs beside.
  const dependencies = { ...parsed.dependencies, ...parsed.peerDependencies };
  return { dependencies, devDependencies: parsed.devDependencies ?? {} };
}

function checkPage(names: readonly string[], page: string): readonly Violation[] {
  const rows = tablesUnder(page, 'package');
  const rowOf = (name: string) => rows.find((row) => codeIn(row.cells[0] ?? '').includes(name));
  const missing = names
    .filter((name) => (rowOf(name)?.cells[1] ?? '') === '')
    .map((name) => `package.json: "${name}" has no row with a reason in ${PAGE}`);
  const gone = rows
    .flatMap((row) => codeIn(row.cells[0] ?? '').map((name) => ({ line: row.line, name })))
    .filter((one) => !names.includes(one.name))
    .map((one) => `${PAGE}:${one.line}: "${one.name}" is no dependency of package.json`);
  return [...missing, ...gone];
}

function checkUsed(names: readonly string[], tree: Tree): readonly Violation[] {
  const imported = new Set(
    tree
      .filter((file) => isCode(file.path))
      .flatMap((file) => importsOf(file).map((one) => packageOf(one.specifier))),
  );
  const tooling = tree.filter((file) => ['scripts', '.ci', 'test'].includes(topFolder(file.path)));
  const commands = [
    fileAt(tree, 'package.json')?.text.split('"dependencies"')[0] ?? '',
    ...tooling.map((file) => file.text),
  ];
  return names
    .filter((name) => !imported.has(name) && !isCalled(name, commands) && !isTypesOfUsed(name, imported))
    .map((name) => `package.json: "${name}" is imported and called nowhere; remove it`);
}

/** A tool is called by its name from a script or a test. */
function isCalled(name: string, commands: readonly string[]): boolean {
  return commands.some((text) => text.includes(`node_modules/${name}/`) || text.includes(`"${name} `));
}

function isTypesOfUsed(name: string, imported: ReadonlySet<string | null>): boolean {
  if (!name.startsWith('@types/')) return false;
  const subject = name.slice('@types/'.length);
  return subject === 'node' || imported.has(subject);
}

function checkKinds(manifest: Manifest, tree: Tree): readonly Violation[] {
  return tree
    .filter((file) => isProduct(file.path) && !BUNDLED.includes(topFolder(file.path)))
    .flatMap((file) =>
      importsOf(file).flatMap((one) => {
        const name = packageOf(one.specifier);
        if (name === null || one.typeOnly || name in manifest.dependencies) return [];
        if (BROUGHT_BY_USERS[file.path] === name) return [];
        return [`${file.path}:${one.line}: "${name}" is not in "dependencies" of package.json`];
      }),
    );
}
