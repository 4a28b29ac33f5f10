/**
 * What `parley --version` says: the version, the commit it was made of, and the build.
 * Owns where the two are read: a package carries them, and in a checkout Git and the stamp of the build know them.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** Digits of a hash that a person compares. */
const DIGITS = 12;

const releaseSchema = z.object({ commit: z.string().nullable(), isChanged: z.boolean(), build: z.string() });
const stampSchema = z.object({ hash: z.string() });

/** `0.1.0 (commit 0123456789ab, build 0123456789ab)`; what cannot be found out is left out. */
export function versionText(version: string, programDir: string): string {
  const { commit, isChanged, build } =
    read(path.join(programDir, 'release.json'), releaseSchema) ?? ofCheckout(programDir);
  const facts = [
    ...(commit === null ? [] : [`commit ${commit.slice(0, DIGITS)}${isChanged ? ', changed' : ''}`]),
    ...(build === null ? [] : [`build ${build.slice(0, DIGITS)}`]),
  ];
  return facts.length === 0 ? version : `${version} (${facts.join(', ')})`;
}

interface Origin {
  readonly commit: string | null;
  readonly isChanged: boolean;
  readonly build: string | null;
}

function ofCheckout(programDir: string): Origin {
  const git = (...args: readonly string[]): string | null => {
    try {
      return execFileSync('git', args, {
        cwd: programDir,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      });
    } catch {
      return null;
    }
  };
  const commit = git('rev-parse', 'HEAD')?.trim() ?? null;
  const build = read(path.join(programDir, '.build.json'), stampSchema)?.hash ?? null;
  return { commit, isChanged: commit !== null && git('status', '--porcelain') !== '', build };
}

function read<Value>(file: string, schema: z.ZodType<Value>): Value | null {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
