/**
 * The code that V8 made of a program, kept beside it, so that a start need not parse and compile it again: nearly half
 * of what the Agent Server takes until it answers. Owns the file's form: the SHA-256 of the program, then V8's own data,
 * which V8 refuses when it is another version or has other flags; then the program is run as if there were no such file.
 * Must not decide what is kept: write-compiled.ts makes the file when the programs are built.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import Module, { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Script } from 'node:vm';

/** Added to the program's path. runtimes/on-host/inside-view.ts binds it in under this name. */
export const COMPILED_SUFFIX = '.compiled';
const DIGEST_BYTES = 32;

/**
 * Runs a CommonJS program of one file as the main module; false, and nothing is run, where no code of it is kept.
 * The program must not use `import()`: Node.js 20 forgets who asks when the code was kept.
 */
export function runCompiled(file: string): boolean {
  const program = readFileSync(file);
  const kept = readKept(`${file}${COMPILED_SUFFIX}`);
  if (kept === null || !digestOf(program).equals(kept.subarray(0, DIGEST_BYTES))) return false;
  runAsMain(file, compile(file, program, kept.subarray(DIGEST_BYTES)));
  return true;
}

/** What is to be kept of a program, once `script` has run so far that all it needs at a start is compiled. */
export function keptCode(program: Buffer, script: Script): Buffer {
  return Buffer.concat([digestOf(program), script.createCachedData()]);
}

export function compile(file: string, program: Buffer, cachedData?: Buffer): Script {
  return new Script(Module.wrap(program.toString('utf8')), {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
}

export function runAsMain(file: string, script: Script): void {
  const main = new Module(file);
  main.filename = file;
  process.mainModule = main;
  const run = script.runInThisContext() as (...given: readonly unknown[]) => void;
  run.call(main.exports, main.exports, createRequire(file), main, file, dirname(file));
}

function digestOf(program: Buffer): Buffer {
  return createHash('sha256').update(program).digest();
}

function readKept(file: string): Buffer | null {
  try {
    return readFileSync(file);
  } catch {
    return null;
  }
}
