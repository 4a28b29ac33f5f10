/**
 * Names of repositories, as people write them and as they appear in a URL path.
 * Owns which names are possible at all; anything that could mean another place in a file system or URL is none.
 */

/** `owner/repo`; owners may be nested (groups, projects). */
interface RepositoryName {
  readonly owner: string;
  readonly repo: string;
}

/** Groups nest a few levels at most; a longer name is a mistake or an attack. */
const SEGMENTS_MAX = 8;
/** No percent sign, slash, space or control character; no leading dot or hyphen. */
const SEGMENT_PATTERN = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,99}$/;
/** Endings that Git itself or a file system gives a meaning to. */
const SEGMENT_END_REFUSED = /(\.|\.git|\.lock)$/i;

/** Null when the text is no possible name. */
export function parseRepositoryName(text: string): RepositoryName | null {
  const segments = text.split('/');
  const repo = segments.at(-1);
  if (segments.length < 2 || segments.length > SEGMENTS_MAX || repo === undefined) return null;
  return segments.every(isSegment) ? { owner: segments.slice(0, -1).join('/'), repo } : null;
}

function isSegment(segment: string): boolean {
  return SEGMENT_PATTERN.test(segment) && !segment.includes('..') && !SEGMENT_END_REFUSED.test(segment);
}
