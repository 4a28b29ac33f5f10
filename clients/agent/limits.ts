/**
 * Every bound of the Agent Server's client, with its reason.
 * Owns constants only.
 */

/** One call when the caller sets no other time. */
export const CALL_TIMEOUT_MS = 30_000;
/** Beyond a command's own time: the server needs a moment to end it and to answer. */
export const EXECUTE_MARGIN_MS = 15_000;
/** Addresses with open connections; the least recently used one is closed first. */
export const ADDRESSES_MAX = 256;
/** Connections to one Agent Server: a long command must not hold up a pause. */
export const CONNECTIONS_PER_ADDRESS = 16;
/** One JSON answer: one event with all that a message may hold. Read, it takes five times as much. */
export const JSON_BYTES_MAX = 16 * 1024 * 1024;
/** A page of several events, with the output of as many tools; a larger one is asked for again with fewer. */
export const PAGE_BYTES_MAX = 4 * 1024 * 1024;
/** One file or patch; the server's own bounds are lower for patches. */
export const CONTENT_BYTES_MAX = 512 * 1024 * 1024;
/** Events of one page; the most the server gives. */
export const EVENTS_PER_PAGE = 100;
/** A page that is too large is asked for again with so many times fewer events, down to one. */
export const PAGE_SHRINK = 5;
/** Pages of messages that are read to look one up; a conversation has a few messages of its user. */
export const MESSAGE_PAGES_MAX = 20;
/** One file of a patch that is made by a command; the reference server has the same bound. */
export const PATCHED_FILE_BYTES_MAX = 100 * 1024 * 1024;
/** Making a patch of a large repository. */
export const PATCH_TIMEOUT_MS = 120_000;
export const OUTPUT_PAGES_MAX = 100;
/** Of all pages of one command's output together; the reference server keeps no more of one. */
export const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
/** An answer that has grown to this waits for a place, since how long it gets is decided in a sandbox. */
export const LARGE_ANSWER_BYTES = 2 * 1024 * 1024;
/** Such answers that are read at once, of all sandboxes and of one. */
export const LARGE_ANSWERS_MAX = 4;
export const LARGE_ANSWERS_PER_SANDBOX_MAX = 1;
/** Those that wait; more fail, and are asked for again later. */
export const LARGE_ANSWERS_WAITING_MAX = 256;
/** What is quoted of a server's explanation: it was written inside the sandbox. */
export const DETAIL_CHARS_MAX = 300;
/** Skills that a workspace brings, and hooks of one event; the reference server has lower bounds. */
export const SKILLS_MAX = 1_000;
export const HOOKS_MAX = 100;
/** Connections from other processes to agents of a host; each is two descriptors of its worker. */
export const RELAY_CONNECTIONS_MAX = 1_000;
/** To one agent: several services may ask it at once, each with as many as CONNECTIONS_PER_ADDRESS, and streams besides. */
export const RELAY_CONNECTIONS_PER_SANDBOX_MAX = 128;
/** From the first byte to the word that the way is open; a runtime is asked in between. */
export const RELAY_HELLO_MS_MAX = 10_000;
/** An id, a generation, or a code. */
export const RELAY_LINE_BYTES_MAX = 100;
/** A long command of an agent is silent for as long as it may run. */
export const RELAY_SILENCE_MS_MAX = 3_600_000;
