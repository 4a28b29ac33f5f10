/**
 * Every bound of the proxy in one place, with its reason.
 * Owns constants only; what a deployment may change arrives in the configuration.
 */

/** A request body is held in memory to be spliced; agent prompts stay under a few MiB, images make them larger. */
export const REQUEST_BYTES_MAX = 64 * 1024 * 1024;
/** Bodies of calls in flight by one key: a single largest one, and ample for ordinary ones. */
export const BODY_BYTES_PER_CALLER_MAX = REQUEST_BYTES_MAX;
/** Of all keys together: a thousand agents with prompts of half a MiB. */
export const BODY_BYTES_ALL_MAX = 512 * 1024 * 1024;
/** Sent as `retry-after` to a call whose body finds no room, or whose connection is one too many. */
export const CROWDED_RETRY_AFTER_S = 2;
/** The body of `POST /model/new`: a handful of strings. */
export const ADMIN_REQUEST_BYTES_MAX = 1024 * 1024;
/** A reply that is no stream is held up to this size, so that a gateway that drops it midway becomes a clean 502. */
export const REPLY_HELD_BYTES_MAX = 64 * 1024 * 1024;
/** A coded reply, decoded for its usage; a larger reply or coded stream is passed on unread. */
export const DECODED_BYTES_MAX = 32 * 1024 * 1024;
/** The beginning of a coded reply, decoded as it grows, until its kind is clear. */
export const CODED_HEAD_BYTES_MAX = 64 * 1024;
/** Comments at the start of a stream are held so far, so that an error behind them still has its status. */
export const COMMENTS_HELD_BYTES_MAX = 1024;
/** The end of a stream in which its `finish_reason` is searched: it is in one of the last few frames. */
export const STREAM_TAIL_BYTES = 16 * 1024;
/** A header that is passed on; callers read 16 KiB of them in all. */
export const RELAYED_VALUE_LENGTH_MAX = 2_048;
/** One server-sent event; a longer one is relayed unread rather than kept in memory. */
export const FRAME_BYTES_MAX = 4 * 1024 * 1024;
/** Text of a gateway's error that is not in the usual envelope: enough to read, too little to flood a log. */
export const ERROR_TEXT_LENGTH_MAX = 2_000;
/** A gateway key shorter than this is a placeholder ("none"): cutting it out would only mangle the text. */
export const SECRET_LENGTH_MIN = 8;
/** The recorded body field `user`: as long as a user id may be, with room for foreign schemes. */
export const USER_LENGTH_MAX = 256;

/** Connections to one gateway: more calls than that wait for a free one. */
export const CONNECTIONS_PER_GATEWAY_MAX = 512;
/** A gateway that does not accept a connection by then is unreachable. */
export const CONNECT_TIMEOUT_MS = 5_000;
/** Idle connections to a gateway are closed after this, before common load balancers do it (60 s). */
export const GATEWAY_KEEP_ALIVE_MS = 30_000;
/** Seconds an entry waits for the first byte, and then between two, when it sets no `timeout`. */
export const TIMEOUT_DEFAULT_S = 600;
/** The longest `timeout` of an entry: no agent waits longer than a day. */
export const TIMEOUT_MAX_S = 86_400;

/** The largest `weight` of an entry: beyond it the others of its name would get nothing. */
export const WEIGHT_MAX = 1_000;
/** Further tries of one call: more only pile load on a gateway that cannot take it. */
export const RETRIES_MAX = 10;
/** The pause before the first further try, doubled for each one after, unless the gateway names another. */
export const RETRY_PAUSE_MS = 250;
/** The longest pause before a further try; if a gateway requests more, its answer is passed on instead. */
export const RETRY_PAUSE_MS_MAX = 10_000;

/** A client that has not sent its whole request by then is cut off; the reply may take as long as it needs. */
export const REQUEST_TIMEOUT_MS = 300_000;
/** Idle client connections outlive the idle time of common load balancers (60 s), which must close first. */
export const CLIENT_KEEP_ALIVE_MS = 75_000;
/** All header lines of one request; spend metadata makes them longer than usual. */
export const HEADER_BYTES_MAX = 32 * 1024;
/** Calls in flight get this long to end when the proxy closes; then they are aborted. */
export const CLOSE_GRACE_MS = 5_000;

/**
 * Spend rows reach the store at most this much later. The longer they are held, the more of them survive collections
 * of short-lived objects, each of which copies them.
 */
export const FLUSH_AFTER_MS = 100;
/** The longest pause between two tries while the store is away; the first is `FLUSH_AFTER_MS`, then doubled. */
export const FLUSH_RETRY_MS_MAX = 30_000;
/** In one write to the store, which writes in this thread and syncs each: calls wait meanwhile. */
export const FLUSH_ROWS_MAX = 256;
/** A spool segment is sealed at this many rows: small enough to read back whole. */
export const SEGMENT_ROWS_MAX = 2_000;
/** Rows kept in memory while the store is away; further ones are only in the spool and read back from there. */
export const QUEUE_ROWS_MAX = 20_000;
/** The spool on disk; beyond it a new call is refused with 503, because its row could not be kept (D26). */
export const SPOOL_BYTES_MAX = 1024 * 1024 * 1024;
/** Room on disk for closing rows while the disk is full: no new call begins then, so those in flight have to fit. */
export const RESERVE_BYTES = 4 * 1024 * 1024;
/**
 * How much of what was sent to the store is kept: more than the log of a SQLite database, which is emptied at 4 MiB
 * of pages, and one call changes several of them.
 */
export const KEPT_BYTES_MAX = 8 * 1024 * 1024;
export const KEPT_FILES_MAX = 500;
/** Rows of one page read for `GET /spend/logs`. */
export const SPEND_PAGE_ROWS = 1_000;
/** Rows folded into daily totals in one transaction: short enough not to hold up the rows that come in. */
export const FOLD_ROWS = 500;
/** How often old rows are searched. */
export const FOLD_EVERY_MS = 3_600_000;
/** The longest retention: ten years. */
export const RETENTION_DAYS_MAX = 3_650;

/** Virtual keys kept in memory with their use; further ones are read from the store again. */
export const KEYS_IN_MEMORY_MAX = 10_000;
/** After another process changes a key, its old record counts for at most this long. */
export const KEY_MEMORY_MS = 30_000;
/** The budget of a run is read again after this, so that a change of it counts soon. */
export const BUDGET_MEMORY_MS = 1_000;
/** Runs whose spend is kept in memory; that of others is read again. */
export const RUNS_IN_MEMORY_MAX = 10_000;
/** Conversations whose run is kept in memory; it is read again for others. */
export const SESSIONS_IN_MEMORY_MAX = 20_000;
/** The largest `max_input_tokens` or `max_output_tokens` of an entry: far beyond any model. */
export const TOKENS_OF_A_CALL_MAX = 1_000_000_000;
/**
 * Tokens that an answer is taken to have at most where neither the call, nor its entry, nor the public list says: twice
 * what any listed model answers with. `max_output_tokens` of the entry overrides it; an entry that was seen to answer
 * with more cannot be bounded.
 */
export const OUTPUT_TOKENS_ASSUMED = 262_144;
/** Calls that wait for money of one budget; a run has fewer agents; further calls are refused with a `retry-after`. */
export const RESERVATIONS_WAITING_MAX = 1_000;
/** The longest wait for money that calls in flight hold: clients give up after ten minutes. */
export const RESERVATION_WAIT_MS_MAX = 300_000;
/** Sent as `retry-after` to a call that waited for money in vain. */
export const BUSY_RETRY_AFTER_S = 5;
/** Tags of one row: enough for searches by users, and no more than a row should hold. */
export const TAGS_MAX = 32;
export const TAG_LENGTH_MAX = 128;
/** How often the configuration file is checked for changes; SIGHUP reads it at once. */
export const CONFIG_POLL_MS = 1_000;

/** Open connections of all sandboxes together: each takes a descriptor, and an idle one belongs to no call. */
export const SANDBOX_CONNECTIONS_MAX = 4_096;
/** Of one conversation's key: its agent has a few calls in flight, and its tools a few more. */
export const CONNECTIONS_PER_CALLER_MAX = 128;

/** A proxy that has not renewed its lease for so long is dead to the others: longer than a stall, shorter than a shift. */
export const PEER_LEASE_MS = 15_000;
/** The lease is renewed this often; changed keys and models are seen as soon. */
export const PEER_BEAT_MS = 1_000;
/** A proxy stops using its shares this long before its lease ends: a request to the database takes time. */
export const PEER_LEASE_MARGIN_MS = 3_000;
/** How often a proxy reports its use of shared limits, and gives back what other proxies wait for. */
export const LEASE_REPORT_MS = 250;
/** How often a proxy that waits for shares of others requests them again. */
export const LEASE_RETRY_MS = 100;
/** A share is at most this part of the limit beyond what calls in flight hold: sixteen proxies hold all of it. */
export const LEASE_SHARES = 16;
/** Calls for which a share should last. */
export const LEASE_CALLS = 16;
/** A share that no call has used for so long goes back. */
export const LEASE_SURPLUS_IDLE_MS = 1_000;
/** A limit that no call has used for so long is forgotten here. */
export const LEASE_ACCOUNT_IDLE_MS = 60_000;
/** Former ids of a proxy whose calls may still end; if it is given up more often, older ids are dropped. */
export const FORMER_NAMES_MAX = 64;
