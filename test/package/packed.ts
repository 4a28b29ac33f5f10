/**
 * The package of this tree, packed once for all tests of it, and installed as users do.
 * Owns the packing, one at a time and never twice for the same sources, and where an installed program is.
 */
import { execFile, execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { withLock } from '../../scripts/lock.js';
import { ROOT } from '../cli/parley-program.ts';

const run = promisify(execFile);
const KEPT = path.join(ROOT, 'dist/test/package');
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;

/** The path of the packed file. */
export async function packed(): Promise<string> {
  mkdirSync(KEPT, { recursive: true });
  return await (withLock(path.join(KEPT, '.lock'), pack) as Promise<string>);
}

async function pack(): Promise<string> {
  const folder = path.join(KEPT, contentsOfTree());
  const file = path.join(folder, 'parley.tgz');
  if (existsSync(file)) return file;
  mkdirSync(folder, { recursive: true });
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', folder], { cwd: ROOT });
  renameSync(path.join(folder, stdout.trim().split('\n').at(-1) ?? ''), file);
  return file;
}

/** A hash of what Git knows and of what it does not know yet. */
function contentsOfTree(): string {
  const git = (...args: readonly string[]): string =>
    execFileSync('git', args, { cwd: ROOT, encoding: 'utf8', maxBuffer: OUTPUT_BYTES_MAX });
  const hash = createHash('sha256')
    .update(git('rev-parse', 'HEAD'))
    .update(git('diff', 'HEAD', '--binary'));
  const others = git('ls-files', '--others', '--exclude-standard', '-z').split('\0').filter(Boolean);
  for (const name of others) hash.update(name).update(readFileSync(path.join(ROOT, name)));
  return hash.digest('hex').slice(0, 16);
}

/** Installs for everybody below `prefix`; gives the program behind the command `parley`. */
export async function installGlobally(
  prefix: string,
  wanted: readonly string[],
  flags: readonly string[] = [],
): Promise<string> {
  mkdirSync(prefix, { recursive: true });
  const args = ['install', '--global', '--no-audit', '--no-fund', '--prefer-offline', '--prefix', prefix];
  await run('npm', [...args, ...flags, ...wanted], { cwd: prefix, maxBuffer: OUTPUT_BYTES_MAX });
  return realpathSync(path.join(prefix, 'bin', 'parley'));
}
