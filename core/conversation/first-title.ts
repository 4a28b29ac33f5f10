/**
 * The title of a conversation that the user gave none: the beginning of its first message, else where it works.
 * Owns the choice and the length; a title that the user gives later replaces it.
 */
import { shortened } from '../text/shorten.ts';

/** Enough to distinguish conversations in a list; UTF-8. */
const TITLE_BYTES_MAX = 90;

export interface FirstTitleFacts {
  readonly prompt: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
}

/** Null where there is neither. */
export function firstTitle({ prompt, repository, branch }: FirstTitleFacts): string | null {
  // Headings and list marks of Markdown say nothing in a title.
  const words = (prompt ?? '')
    .replace(/^[\s#>*-]+/, '')
    .replace(/\s+/g, ' ')
    .trim();
  if (words !== '') return shortened(words, TITLE_BYTES_MAX);
  if (repository === null) return null;
  return shortened(branch === null ? repository : `${repository} @ ${branch}`, TITLE_BYTES_MAX);
}
