/**
 * The keys of blobs: plain relative paths, the same for a folder and for a bucket.
 * Owns the check; must not know where a blob lies.
 */
import { ParleyError } from '../../core/parley-error.ts';

const KEY_PATTERN = /^[A-Za-z0-9._-]+(\/[A-Za-z0-9._-]+)*$/;
/** Below what file systems take for a whole path, with room for the root, and below the 1,024 bytes of S3 with a prefix. */
const KEY_LENGTH_MAX = 1_000;
/** Longest name in a folder that common file systems take. */
const SEGMENT_LENGTH_MAX = 255;
/** Holds what a folder is being written; no key begins with it. */
export const ASIDE = '.unfinished';

/** Its parts. @throws ParleyError invalid_request for a key that is no plain relative path */
export function blobKeyParts(key: string): readonly string[] {
  const segments = key.split('/');
  const plain =
    KEY_PATTERN.test(key) &&
    key.length <= KEY_LENGTH_MAX &&
    segments[0] !== ASIDE &&
    segments.every((segment) => segment !== '.' && segment !== '..' && segment.length <= SEGMENT_LENGTH_MAX);
  if (plain) return segments;
  throw new ParleyError('invalid_request', `Cannot use the blob key "${key}": it is no plain relative path`);
}
