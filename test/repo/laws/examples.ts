/**
 * Every example is valid: a job that a page shows and the language refuses would teach mistakes.
 */
import { createHash } from 'node:crypto';
import path from 'node:path';
import { compileJob } from '../../../dsl/compile-job.ts';
import { fileAt, isTestData, type RepoFile, type Tree, type Violation } from '../tree.ts';

/** Compiles each examples/**\/*.yaml that says `kind: job`; a warning counts, because an example has none to excuse. */
export function examplesCompile(tree: Tree): readonly Violation[] {
  return tree.filter(isJob).flatMap((file) => compile(file, tree));
}

function isJob(file: RepoFile): boolean {
  return (
    /^examples\/.*\.ya?ml$/.test(file.path) && !isTestData(file.path) && /^kind: *job\b/m.test(file.text)
  );
}

function compile(file: RepoFile, tree: Tree): readonly Violation[] {
  const readFile = (relativePath: string) => {
    const found = fileAt(tree, path.posix.join(path.posix.dirname(file.path), relativePath));
    return found === null ? { problem: 'missing' as const } : { text: found.text };
  };
  const readRows = (relativePath: string) => {
    const found = readFile(relativePath);
    return 'text' in found ? { chunks: [found.text] } : found;
  };
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  const { diagnostics } = compileJob({ path: file.path, text: file.text }, { readFile, readRows, sha256 });
  return diagnostics.map((one) => `${one.file}:${one.line}: ${one.message} [${one.code}]`);
}
