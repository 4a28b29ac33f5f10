/**
 * Every bound of the rules in one place, with its reason.
 * Owns constants only; what a deployment may change is a default here and arrives in state as data.
 */
import { DAY_MS, HOUR_MS, MINUTE_MS, SECOND_MS } from './time.ts';

/**
 * A running session is force-paused after 12 hours, even if active (spec "Limits", D10).
 * A constant on purpose: no configuration, flag, variable, schema or DSL key reaches it (test/repo proves it).
 */
export const MAX_SESSION_MS = 12 * HOUR_MS;

/** Idle Time when the deployment sets none (D10). */
export const IDLE_TIME_DEFAULT_MS = 1_200 * SECOND_MS;
/** Deletion Time when the deployment sets none (D10). */
export const DELETION_TIME_DEFAULT_MS = 10 * DAY_MS;

/** Conversations attached to one sandbox, not deleted (D16). */
export const CONVERSATIONS_PER_SANDBOX_DEFAULT = 20;
/** Placement wants at least this much of the session window left (D16). */
export const SESSION_LEFT_FOR_PLACEMENT_MS = 10 * MINUTE_MS;
/** Sandboxes with the runtime up, per installation and per user (D17). */
export const CAPACITY_INSTALLATION_DEFAULT = 100;

/** Sandboxes of one user that may have their runtime up (D17), where the deployment names no other number. */
export const CAPACITY_USER_DEFAULT = 10;

/** Half a session: a conversation that claims a sandbox of the warm pool has at least the other half of it. */
export const WARM_AGE_DEFAULT_MS = 6 * HOUR_MS;

/** A sandbox that has not become ready by then has failed (D13: every non-final state has a deadline). */
export const START_TIMEOUT_MS = 10 * MINUTE_MS;
/** Stopping a runtime; past it the stop is ordered again. */
export const PAUSE_TIMEOUT_MS = 5 * MINUTE_MS;
/** Archiving a workspace; past it the attempt counts as failed. */
export const ARCHIVE_TIMEOUT_MS = 30 * MINUTE_MS;
/** Removing a runtime and its storage; past it the removal is ordered again. */
export const DESTROY_TIMEOUT_MS = 5 * MINUTE_MS;
/** An activity check that is older than this says nothing about now: it is made again. */
export const LOOK_AGE_MAX_MS = MINUTE_MS;
/** Tries to archive before `archive_failed` is recorded (D12). */
export const ARCHIVE_ATTEMPTS_MAX = 3;
/** A timer's deletion waits this long after `archive_failed` before it tries the archive again (D12). */
export const ARCHIVE_RETRY_MS = HOUR_MS;
/** Times a stop or a removal is ordered again before the sandbox is marked for an operator. */
export const RELEASE_ATTEMPTS_MAX = 5;
/** Pause between those. */
export const RELEASE_RETRY_MS = 30 * SECOND_MS;
/** Attempts of one item that end with their host and take no try: without it, work that kills its hosts never ends. */
export const HOST_LOSSES_MAX = 3;
/** Tries of one wanted resume: a resume loop has no timer of its own, so it needs a bound. */
export const RESUME_ATTEMPTS_MAX = 3;

/** A run waits this long for the sandboxes it released: longer than every try to stop, archive and remove one. */
export const CLEANUP_TIMEOUT_MS = 2 * HOUR_MS;

/** Placements tried for one start: a refusal loop has no timer of its own, so it needs a bound. */
export const PLACEMENT_ATTEMPTS_MAX = 5;
/** A start task that has not ended by then, counted from when it has a place, ends in ERROR. */
export const START_TASK_TIMEOUT_MS = 30 * MINUTE_MS;
/** A waiter is notified when a slot is free; it also polls this often, since limits may have been raised. */
export const CAPACITY_POLL_MS = 15 * MINUTE_MS;
/** A waiter that has not polled for so long has gone, and holds up no other in the line. */
export const LINE_AGE_MAX_MS = 3 * CAPACITY_POLL_MS;
/** A start that has no place by then ends in ERROR: two sessions at their longest may hold every slot. */
export const PLACEMENT_TIMEOUT_MS = 24 * HOUR_MS;
/**
 * A start that one service has accepted is another's to resume after so long: it is sealed in milliseconds, and an
 * engine reports within half of it whether it has it. Clocks of several hosts may differ by a part of it.
 */
export const START_LEASE_MS = MINUTE_MS;
/** Services poll for such starts this often. */
export const STARTS_POLL_MS = 10_000;
/** So many are resumed at a time: where no worker is, each waits for half a minute. */
export const STARTS_AT_ONCE = 20;
/** A server or a worker that is away is back in seconds or in minutes, and no client waits. */
export const START_AGAIN_MS = 2_000;

/** Longest wait before a start whose engine is away is tried again. */
export const START_AGAIN_MS_MAX = 30_000;
/** Starts over the API that wait for a slot (D29); more are refused. */
export const WAITING_STARTS_MAX = 1_000;
/** Times a conversation requests one resume again after a notice that it did not happen. */
export const RESUME_REQUESTS_MAX = 5;
/**
 * What is kept of one transcript; what an agent writes beyond it is dropped, and recorded (D31). An agent at work
 * writes some MiB a day; a sandbox that writes more than this does it to fill the disk.
 */
export const TRANSCRIPT_BYTES_MAX = 256 * 1024 * 1024;

/** Events that are kept of one transcript; storing more is refused. */
export const TRANSCRIPT_EVENTS_MAX = 200_000;
/** What one reading of a transcript takes from its agent: all of it, and a page that has grown since. */
export const TRANSCRIPT_READ_BYTES_MAX = 2 * TRANSCRIPT_BYTES_MAX;
/** How fast transcripts are read, on average: agents that write much are polled less often, the others as before. */
export const TRANSCRIPT_READ_BYTES_PER_SECOND = 4 * 1024 * 1024;
/** Messages waiting in one conversation; more are refused with a clear code. */
export const QUEUED_MESSAGES_MAX = 100;
/** Tries to deliver one message to the agent before it is refused. */
export const DELIVERY_ATTEMPTS_MAX = 5;
/** Ids of requests remembered per entity: larger than what can be in flight, so that a repeat is harmless. */
export const REMEMBERED_REQUESTS_MAX = 256;
/** An agent that stopped on a rate limit goes on after this long when the endpoint does not say how long (D6). */
export const RATE_LIMIT_WAIT_MS = MINUTE_MS;

/** Tags (spec "Limits", D21). */
export const TAG_VALUE_CODE_POINTS_MAX = 256;
/**
 * What a start request says about its trace (D21); the spec names no bounds. All of it goes with every record of the
 * conversation, and collectors cut longer texts off or refuse the span.
 */
export const OBSERVABILITY_NAME_CODE_POINTS_MAX = 128;
export const OBSERVABILITY_TAGS_MAX = 50;
export const OBSERVABILITY_METADATA_MAX = 50;
export const OBSERVABILITY_KEY_CODE_POINTS_MAX = 128;
export const OBSERVABILITY_TEXT_CODE_POINTS_MAX = 256;
export const OBSERVABILITY_ARRAY_MAX = 50;
/** Secrets of one conversation (D20). */
export const SECRETS_MAX = 50;

/** Of one secret's value. */
export const SECRET_BYTES_MAX = 65_536;
/** Variables that begin so, in any case, belong to the sandbox and its agent (D20). */
export const SECRET_PREFIXES_RESERVED = ['LLM_', 'OH_', 'PARLEY_'] as const;

/** A secret becomes an environment variable, so its name is one. */
export const SECRET_NAME_PATTERN = /^[A-Za-z_][A-Za-z0-9_]*$/;
