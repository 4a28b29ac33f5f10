/**
 * The name of a commit, whoever said it: a sandbox, a collected file, a code host.
 * Owns what one may look like; anything else never becomes an argument of Git.
 */

/** SHA-1 or SHA-256, as Git prints it. */
const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

export function isCommitId(text: string): boolean {
  return COMMIT_ID.test(text);
}
