/**
 * Names of delivered branches: what the words in braces stand for, and what Git takes as a name.
 * Owns both; must not know a code host.
 */

import { fillWords } from '../text/fill-words.ts';

export interface DeliverWords {
  readonly job: string;
  readonly run: string;
  readonly key: string;
}

/** Fills `{job}`, `{run}` and `{key}`. */
export function fillDeliverText(template: string, { job, run, key }: DeliverWords): string {
  return fillWords(template, { job, run, key });
}

/** Longer names do not fit into a file name on every host. */
const BRANCH_CHARS_MAX = 240;

/** Whether Git takes it as the name of a branch: the rules of `git check-ref-format`, and no leading hyphen. */
export function isBranchName(name: string): boolean {
  // eslint-disable-next-line no-control-regex -- Git refuses control characters
  if (name.length > BRANCH_CHARS_MAX || /[\u0000- \u007f~^:?*[\\]|\.\.|@\{|\.$/.test(name)) return false;
  if (name.startsWith('-') || name === '@') return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}
