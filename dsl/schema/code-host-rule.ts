/**
 * Text that a code host is asked with.
 * Owns the patterns of labels, users and branches there.
 */
import { BRANCH, rule } from './text-rule.ts';

/** As a code host shows it. */
export const ISSUE_LABEL = rule({
  pattern: /^(?!\s)[^,\p{Cc}]{1,255}(?<!\s)$/u,
  what: 'a label of an issue',
  remedy: 'write one label; several are a list',
});
/** Of a user of a code host. */
export const USER_NAME = rule({
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/,
  what: 'a name of a user',
  remedy: 'write the name as the code host shows it, without "@"',
});
/** As BRANCH, where no row is known. */
export const TARGET_BRANCH = rule({ ...BRANCH, interpolates: false });
