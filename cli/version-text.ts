/**
 * What `parley --version` says: the version, the commit it was made of with its day, and the build.
 * Owns where they are read: a package carries them, and in a checkout Git and the stamp of the build know them.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';

/** Digits of a hash that a person compares. */
const DIGITS = 12;
/** Of an instant in ISO 8601. */
const DAY_CHARACTERS = 'YYYY-MM-DD'.length;

const releaseSchema = z.object({
  commit: z.string().nullable(),
  /** Of the commit, as ISO 8601. */
  date: z.string().nullable(),
  isChanged: z.boolean(),
  build: z.string(),
});
const stampSchema = z.object({ hash: z.string() });

/** `0.1.0 (commit 0123456789ab of 2026-11-28, build 0123456789ab)`; what cannot be found out is left out. */
export function versionText(version: string, programDir: string): string {
  const { commit, date, isChanged, build } = originOf(programDir);
  const day = date === null ? '' : ` of ${date.slice(0, DAY_CHARACTERS)}`;
  const facts = [
    ...(commit === null ? [] : [`commit ${commit.slice(0, DIGITS)}${day}${isChanged ? ', changed' : ''}`]),
    ...(build === null ? [] : [`build ${build.slice(0, DIGITS)}`]),
  ];
  return facts.length === 0 ? version : `${version} (${facts.join(', ')})`;
}

/** Who packs a checkout leaves there what the package says; it is not asked, because the checkout goes on. */
function originOf(programDir: string): Origin {
  const isCheckout = existsSync(path.join(programDir, '..', '.git'));
  if (isCheckout) return ofCheckout(programDir);
  return read(path.join(programDir, 'release.json'), releaseSchema) ?? UNKNOWN;
}

interface Origin {
  readonly commit: string | null;
  readonly date: string | null;
  readonly isChanged: boolean;
  readonly build: string | null;
}

const UNKNOWN: Origin = { commit: null, date: null, isChanged: false, build: null };

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
  const [commit = null, date = null] = git('log', '-1', '--format=%H %cI')?.trim().split(' ') ?? [];
  const build = read(path.join(programDir, '.build.json'), stampSchema)?.hash ?? null;
  return { commit, date, isChanged: commit !== null && git('status', '--porcelain') !== '', build };
}

function read<Value>(file: string, schema: z.ZodType<Value>): Value | null {
  try {
    return schema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch {
    return null;
  }
}
