/**
 * Every bound of what is read from and sent to the interface of a code host, with its reason.
 * Owns constants only.
 */

/** One answer: a page of issues whose texts are at the host's own limit. */
export const ANSWER_BYTES_MAX = 32 * 1024 * 1024;
/** A host that has not begun to answer after this is gone. */
export const ANSWER_TIMEOUT_MS = 30_000;
/** Tries of a request that changes nothing; what changes something is searched for before it is sent again. */
export const READ_TRIES = 3;
export const RETRY_WAIT_MS = 1_000;
/** A host that limits calls, and does not say for how long. */
export const LIMIT_WAIT_DEFAULT_MS = 60_000;
/** Of a plan: GitHub counts by the hour. Nothing is held up but the command that the user watches. */
export const PLAN_WAIT_MS_MAX = 75 * 60_000;
/** Of a result: its conversation holds a sandbox. It is tried again with the collection, and by `parley collect`. */
export const RESULT_WAIT_MS_MAX = 60_000;
/** Redirects followed, on the same host only: a repository that was renamed. */
export const REDIRECTS_MAX = 3;
export const PAGE_ITEMS = 50;
/** Pages that are read to find one thing: a marked comment, the issues of a host that lists pull requests among them. */
export const PAGES_MAX = 100;

/** Of an issue; more of it is no use to a model, and a plan holds thousands. */
export const TITLE_CHARS_MAX = 1_000;
export const BODY_CHARS_MAX = 64 * 1024;
/** Of one comment, and of all of an issue. */
export const COMMENT_CHARS_MAX = 8 * 1024;
export const COMMENTS_CHARS_MAX = 64 * 1024;
/** The oldest: they say what is wanted; a longer discussion is read at its address. */
export const COMMENTS_MAX = 50;
export const LABELS_MAX = 100;
export const LABEL_CHARS_MAX = 255;
export const NAME_CHARS_MAX = 255;
export const ADDRESS_CHARS_MAX = 2_000;
/** All rows of one request: a plan is one value of a store. */
export const ROWS_CHARS_MAX = 32 * 1024 * 1024;
/** What a host says of a refusal. */
export const REASON_CHARS_MAX = 300;
