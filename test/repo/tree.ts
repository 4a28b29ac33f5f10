/**
 * The repository as data: every file git knows or would add, with its text.
 * The only file of these tests that reads the disk; a law gets a tree and returns violations, so that each law can be
 * broken on a tree made up in a test.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

export interface RepoFile {
  /** Relative to the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export type Tree = readonly RepoFile[];

/** What is wrong, where, and what to write instead: "path:line: sentence" or "path: sentence". */
export type Violation = string;

export type Law = (tree: Tree) => readonly Violation[];

/** A larger file is data, whatever its name says; no law reads it. */
const TEXT_BYTES_MAX = 1_000_000;

const ROOT = path.resolve(import.meta.dirname, '../..');

/** Tracked files and new ones that are not ignored; binary and very large files are left out. */
export function readRepository(): Tree {
  const listed = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  const names = [...new Set(listed.split('\0'))].filter((name) => name !== '').sort();
  return names.flatMap((name) => readText(name));
}

function readText(name: string): readonly RepoFile[] {
  const file = path.join(ROOT, name);
  if (!existsSync(file) || statSync(file).size > TEXT_BYTES_MAX) return [];
  const bytes = readFileSync(file);
  return bytes.includes(0) ? [] : [{ path: name, text: bytes.toString('utf8') }];
}

/** A tree for a test: path → text. */
export function madeUp(files: Readonly<Record<string, string>>): Tree {
  return Object.entries(files).map(([name, text]) => ({ path: name, text }));
}

export function fileAt(tree: Tree, name: string): RepoFile | null {
  return tree.find((file) => file.path === name) ?? null;
}

export function topFolder(name: string): string {
  const slash = name.indexOf('/');
  return slash === -1 ? '' : name.slice(0, slash);
}

/** Data of tests and what examples hand to an agent: no law about code reads them. */
export function isTestData(name: string): boolean {
  return (
    name.startsWith('test/golden/') || /^test\/.*\/fixtures\/|^examples\/.*\/(tasks|written)\//.test(name)
  );
}

export function isCode(name: string): boolean {
  return /\.(ts|tsx|js|mjs|cjs)$/.test(name) && !name.endsWith('.d.ts') && !isTestData(name);
}

/** Code of the programs a user runs, as opposed to tests, benches, scripts and configuration. */
export function isProduct(name: string): boolean {
  const elsewhere = ['', 'test', 'bench', 'scripts', 'examples', 'docs', '.ci'];
  return isCode(name) && !elsewhere.includes(topFolder(name));
}

export function isMarkdown(name: string): boolean {
  return name.endsWith('.md') && !isTestData(name);
}
