/**
 * Every bound that only the Kubernetes runtime has, with its reason.
 * Owns constants only.
 */

/** One call to the API server; one that is silent for longer is not waited for. */
export const CALL_TIMEOUT_MS = 30_000;
/** Tries of a call that the API server puts off; then the caller gets an error that says nothing is known. */
export const THROTTLED_TRIES_MAX = 4;
/** A server that names a longer wait than this is taken for away. */
export const RETRY_AFTER_MAX_MS = 10_000;
/** Where a server names no wait. */
export const RETRY_AFTER_DEFAULT_MS = 1_000;
/** Tries of a change that other changes preceded; each reads anew, so more would mean a lasting conflict. */
export const CONFLICTS_MAX = 12;
/** Objects of one page of a list. */
export const PAGE_SIZE = 500;
/** Lists that are begun anew because their place in time was forgotten. */
export const RELISTS_MAX = 5;
/** A watch is ended by the server after this many seconds, so that a line that died in silence is noticed. */
export const WATCH_SECONDS = 240;
/** Wait before a watch that broke is opened again. */
export const WATCH_RETRY_MS = 1_000;
/** Wait before a watch that ended is opened again: a server that ends each at once must not be stormed. */
export const WATCH_PAUSE_MS = 100;
/** A pod is polled this often even when no event came: events only wake (level, not edge). */
export const POLL_MS = 2_000;
/** Between the request to end and the kill, in the unit of the API. */
export const STOP_GRACE_S = 5;
/** Time a pod gets to be gone after its grace; past it its node does not answer and nothing is known. */
export const GONE_WAIT_MS = 60_000;
/** Lines of a container's log that are read for its last words. */
export const LOG_TAIL_LINES = 40;
/** Text that is kept on the volume about an incarnation that was ended. */
export const ENDED_FOR_CHARS_MAX = 500;
/** The port of the Agent Server on the pod's address, and of a reader of the workspace. */
export const AGENT_PORT = 8_000;
/** A reader that is still there after an hour was forgotten, and ends by itself. */
export const READER_SECONDS_MAX = 3_600;
/** Time a reader gets until it answers. */
export const READER_READY_MS = 120_000;
/** Memory and processor of a reader at most: it copies and compresses. */
export const READER_MEMORY = '256Mi';
export const READER_CPU = '500m';
/** What its node has to have free for it: little, since it runs on the node of its volume, however full that is. */
export const READER_MEMORY_ASKED = '64Mi';
export const READER_CPU_ASKED = '10m';
/** Written layers and logs of a container on its node: the root is read-only, so it is the log. */
export const NODE_DISK = '64Mi';
