/** What a worker loads into Temporal's sandbox: our rules and driver, Temporal's packages, and nothing else. */
import { readFileSync } from 'node:fs';
import ts from 'typescript';
import { expect, it, describe } from 'vitest';
import { readRepository, topFolder, type RepoFile } from '../repo/tree.ts';
import { lineOf, parse, walk } from '../repo/syntax.ts';
import { BUNDLE } from './support/deployment.ts';

/** Bytes without the source map; the driver and the rules take a quarter of them, the rest is Temporal's. */
const CODE_BYTES_MAX = 1_000_000;
/** Packages that Temporal's workflow package itself needs. */
const PACKAGES = /^\.\/node_modules\/(@temporalio\/(common|workflow)|nexus-rpc|long|ms)\//;
/** Temporal's sandbox replaces Date.now by the time of the task; the rest would differ in a replay or is not there. */
const BANNED = [
  'process',
  'setTimeout',
  'setInterval',
  'setImmediate',
  'Buffer',
  'fetch',
  'crypto',
  'performance',
];

const text = readFileSync(BUNDLE, 'utf8');
const code = text.slice(0, text.lastIndexOf('//# sourceMappingURL='));
const modules = [...code.matchAll(/^\/\*{3}\/ "([^"]+)"/gm)].map((match) => match[1] ?? '');

function problemsOf(file: RepoFile): readonly string[] {
  const source = parse(file);
  const found: string[] = [];
  const report = (node: ts.Node, what: string): void =>
    void found.push(`${file.path}:${lineOf(source, node)}: ${what}`);
  walk(source, (node) => {
    if (ts.isIdentifier(node) && BANNED.includes(node.text) && !isName(node)) report(node, node.text);
    if (ts.isIdentifier(node) && node.text === 'Date' && !isDateNow(node))
      report(node, 'Date other than Date.now');
    if (isMathRandom(node)) report(node, 'Math.random');
    if (isValidator(node) && isAsync(node.initializer, source)) report(node, 'async validator');
  });
  return found;
}

const isName = (node: ts.Identifier): boolean =>
  ts.isPropertyAssignment(node.parent) ||
  ts.isPropertySignature(node.parent) ||
  (ts.isPropertyAccessExpression(node.parent) && node.parent.name === node);
const isDateNow = ({ parent }: ts.Identifier): boolean =>
  ts.isPropertyAccessExpression(parent) && parent.name.text === 'now';
const isMathRandom = (node: ts.Node): boolean =>
  ts.isPropertyAccessExpression(node) && node.getText() === 'Math.random';
const isValidator = (node: ts.Node): node is ts.PropertyAssignment =>
  ts.isPropertyAssignment(node) && node.name.getText() === 'validator';

/** Written in place, or a function that some file of the folder declares. */
function isAsync(validator: ts.Expression, source: ts.SourceFile): boolean {
  if (ts.isArrowFunction(validator) || ts.isFunctionExpression(validator)) return hasAsync(validator);
  const name = validator.getText(source);
  return workflowFiles().some((file) => {
    let found = false;
    walk(parse(file), (node) => {
      if (ts.isFunctionDeclaration(node) && node.name?.text === name) found ||= hasAsync(node);
    });
    return found;
  });
}

const hasAsync = (node: ts.Node): boolean =>
  ts.canHaveModifiers(node) &&
  (ts.getModifiers(node) ?? []).some(({ kind }) => kind === ts.SyntaxKind.AsyncKeyword);

let files: readonly RepoFile[] | null = null;
function workflowFiles(): readonly RepoFile[] {
  return (files ??= readRepository().filter(({ path }) => topFolder(path) === 'workflows'));
}

describe('the bundle of workflows', () => {
  it('holds core/, workflows/ and what Temporal needs, and nothing else', () => {
    expect(modules.length).toBeGreaterThan(50);
    const foreign = modules.filter((name) => !/^\.\/(core|workflows)\//.test(name) && !PACKAGES.test(name));
    // An entry that the bundler makes up, and an alias for a module of Node, bear no path of ours.
    expect(foreign.filter((name) => !name.startsWith('?'))).toEqual([]);
    expect(modules).toContain('./workflows/drive.ts');
    expect(modules).toContain('./core/machine/machines.ts');
  });

  it('asks for nothing of Node', () => {
    expect(code).not.toMatch(/\brequire\("(?!\.)/);
    expect(code).not.toMatch(/^\/\*{3}\/ "(node:|fs|crypto|path|os|net|http)/m);
  });

  it('is small', () => {
    expect(Buffer.byteLength(code)).toBeLessThan(CODE_BYTES_MAX);
  });
});

describe('the sources of workflows/', () => {
  it('use no clock, chance, process or async validator', () => {
    expect(workflowFiles().length).toBeGreaterThan(5);
    expect(workflowFiles().flatMap(problemsOf)).toEqual([]);
  });

  it.each([
    ['const at = new Date();', 'Date other than Date.now'],
    ['setTimeout(() => undefined, 1);', 'setTimeout'],
    ['export const x = process.env;', 'process'],
    ['const x = Math.random();', 'Math.random'],
    ['setHandler(u, h, { validator: async (x) => { await x; } });', 'async validator'],
  ])('would be refused with %s', (line, what) => {
    expect(problemsOf({ path: 'workflows/made-up.ts', text: line })).toEqual([
      `workflows/made-up.ts:1: ${what}`,
    ]);
  });
});
