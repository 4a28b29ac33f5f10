/**
 * The refs of a repository, as a Git server announces them to a client that begins to read.
 * Owns the form of that announcement; must not open a connection.
 */

import { isCommitId } from '../../core/commit-id.ts';

/** Names as they are announced: `HEAD`, `refs/heads/main`, `refs/tags/v1`. */
export type RefNames = ReadonlySet<string>;

/** A line says its own length in four hexadecimal digits; these are part of it. */
const LENGTH_DIGITS = 4;
/** Stands where a repository without a ref has nothing to announce. */
const NO_REF = 'capabilities^{}';

/** Null when it is no announcement of a Git server. */
export function readRefNames(announcement: Uint8Array): RefNames | null {
  const text = Buffer.from(announcement.buffer, announcement.byteOffset, announcement.byteLength).toString(
    'latin1',
  );
  const names = new Set<string>();
  let isOne = false;
  for (let at = 0; at + LENGTH_DIGITS <= text.length;) {
    const digits = text.slice(at, at + LENGTH_DIGITS);
    if (!/^[0-9a-f]{4}$/.test(digits)) return null;
    const length = Number.parseInt(digits, 16);
    const line = text.slice(at + LENGTH_DIGITS, at + length);
    // Lines without content part the announcement, and stand for themselves.
    at += Math.max(length, LENGTH_DIGITS);
    if (line.startsWith('# service=git-upload-pack')) isOne = true;
    const [, name] = /^[0-9a-f]{40,64} ([^\0\n]+)/.exec(line) ?? [];
    if (name !== undefined && name !== NO_REF) names.add(Buffer.from(name, 'latin1').toString('utf8'));
  }
  return isOne ? names : null;
}

/** As `git clone` resolves it: a branch, else a tag; without a name the commit that the repository points at. */
export function hasStart(refs: RefNames, branch: string | null): boolean {
  if (branch === null) return refs.has('HEAD');
  // Not announced: only a request for it shows whether it is there.
  if (isCommitId(branch)) return true;
  return refs.has(`refs/heads/${branch}`) || refs.has(`refs/tags/${branch}`);
}

/** Names without what stands before them. */
export function branchesOf(refs: RefNames): readonly string[] {
  return [...refs].flatMap((name) => /^refs\/(?:heads|tags)\/(.+)$/.exec(name)?.[1] ?? []);
}
