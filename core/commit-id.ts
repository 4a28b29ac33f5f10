/**
 * The name of a commit, from any source: a sandbox, a collected file, a code host.
 * Owns what one may look like; anything else never becomes an argument of Git.
 */

/** SHA-1 or SHA-256, as Git prints it. */
const COMMIT_ID = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

/** For a repository that had no commit: what began there began with nothing. Every Git repository has this tree. */
export const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** Whether a text is a whole commit id of Git. */
export function isCommitId(text: string): boolean {
  return COMMIT_ID.test(text);
}
