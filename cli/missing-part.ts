/**
 * What a user types to install the packages of an engine or a runtime that are missing beside Parley.
 * Owns the list: all packages of one scope belong together, in the versions that this program was tested with.
 */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { ParleyError } from '../core/parley-error.ts';

/** Our own file, which the release checks: a schema library for it would be loaded by every command. */
interface Manifest {
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** The remedy of an error about a part that is missing, with what to type; null for any other error. */
export function remedyOfMissing(
  { details }: Pick<ParleyError, 'details'>,
  programDir: () => string,
): string | null {
  const missing = details['package'];
  const command = typeof missing === 'string' ? installCommand(missing, programDir()) : null;
  return command === null ? null : `install it beside Parley: ${command}`;
}

/** Null where the package file cannot be read, or does not know `missing`. `programDir` holds the built programs. */
function installCommand(missing: string, programDir: string): string | null {
  const root = path.dirname(programDir);
  const peers = peersOf(path.join(root, 'package.json'));
  const scope = missing.startsWith('@') ? `${missing.split('/')[0]}/` : missing;
  const wanted = Object.entries(peers).filter(([name]) => name === missing || name.startsWith(scope));
  if (wanted.length === 0) return null;
  // A checkout that was only used so far: all that it lacks comes at once, and is built.
  if (existsSync(path.join(root, '.git'))) return 'npm run build';
  // As Parley was installed itself: globally below "lib", or in the project that it belongs to.
  const isGlobal = path.basename(path.resolve(root, '../..')) === 'lib';
  return `npm install ${isGlobal ? '--global ' : ''}${wanted.map(([name, version]) => `${name}@${version}`).join(' ')}`;
}

function peersOf(file: string): Readonly<Record<string, string>> {
  try {
    return (JSON.parse(readFileSync(file, 'utf8')) as Manifest).peerDependencies ?? {};
  } catch {
    return {};
  }
}
