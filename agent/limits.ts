/**
 * Every bound of the Agent Server in one place, with its reason.
 * Owns constants only; nothing here reads the environment.
 */

/** A JSON body larger than this is refused with 413; a prompt with pasted logs stays far below. */
export const BODY_BYTES_MAX = 16 * 1024 * 1024;
/** One uploaded file; more belongs in a mount. */
export const UPLOAD_BYTES_MAX = 512 * 1024 * 1024;
/** One file written, moved or removed: the largest upload over a slow line takes less. */
export const FILE_WRITE_MS = 30 * 60_000;
/** Below the folder of the conversations: plugins that were fetched. */
export const PLUGIN_CACHE = '.plugins';
/** Conversations kept by one server; placement stops at 20, so this only catches a runaway caller. */
export const CONVERSATIONS_MAX = 200;
/** Rows of one search page; larger values are a 422. */
export const PAGE_ROWS_MAX = 100;

/** Steps of one run when the request names none. */
export const ITERATIONS_DEFAULT = 500;
/** The largest step limit a request may ask for. */
export const ITERATIONS_MAX = 10_000;

/** Secrets of one conversation, and the size of one (D20). */
export const SECRETS_MAX = 50;
export const SECRET_BYTES_MAX = 65_536;
/** Shorter values are not masked: masking every "yes" or "42" would make transcripts unreadable. */
export const MASKED_VALUE_CHARS_MIN = 4;
/** Shorter lines of a value of several are brackets and words; and as many lines of a key as the largest value has. */
export const MASKED_LINE_CHARS_MIN = 8;
export const MASKED_LINES_MAX = 1_024;
/** Tags (D21). */
export const TAGS_MAX = 50;
export const TAG_VALUE_CODE_POINTS_MAX = 256;

/** Text of one tool result as the model sees it; the middle of anything longer is cut out. */
export const OBSERVATION_CHARS_MAX = 30_000;
/** Bytes of one command's output kept while it runs: half from the start, half from the end. */
export const TERMINAL_BUFFER_BYTES_MAX = 4 * 1024 * 1024;
/** A command that prints nothing for this long is reported as still running. */
export const TERMINAL_QUIET_MS = 30_000;
/** The longest one terminal call waits, however busy the command; after it the agent polls. */
export const TERMINAL_WAIT_MS_MAX = 30 * 60_000;
/** Time between an interrupt signal and killing the shell's process group. */
export const TERMINAL_INTERRUPT_GRACE_MS = 2_000;

/** Default and upper bound of one `execute_bash_command`. */
export const BASH_TIMEOUT_S_DEFAULT = 300;
export const BASH_TIMEOUT_S_MAX = 3_600;
/** Output kept per stream of one `execute_bash_command`. */
export const BASH_OUTPUT_BYTES_MAX = 4 * 1024 * 1024;
/** Commands whose output can be looked up, and the bytes it may take; the oldest are forgotten first. */
export const BASH_COMMANDS_KEPT_MAX = 500;
export const BASH_KEPT_BYTES_MAX = 64 * 1024 * 1024;
/** Commands that run at once; a workspace has few cores. */
export const BASH_COMMANDS_AT_ONCE_MAX = 64;
/** A background process may hold the pipes open after the shell has ended; we stop listening after this. */
export const BASH_DRAIN_MS = 250;

/** Files the editor opens; larger ones are for the terminal. */
export const EDITOR_FILE_BYTES_MAX = 10 * 1024 * 1024;
/** Old and new content are put into the event up to this size each. */
export const EDITOR_EVENT_CONTENT_CHARS_MAX = 64 * 1024;
/** Undo steps remembered per file, and files that have any. */
export const EDITOR_UNDO_STEPS_MAX = 10;
export const EDITOR_UNDO_FILES_MAX = 100;
/** Entries of one directory view. */
export const EDITOR_DIRECTORY_ENTRIES_MAX = 1_000;
/** Entries of one task list. */
export const TASKS_MAX = 200;

/** Output of one Git command we read; a patch above it is an error, never a cut patch. */
export const GIT_OUTPUT_BYTES_MAX = 256 * 1024 * 1024;
/** One Git command; past it the repository is too large or a lock is stuck. */
export const GIT_TIMEOUT_MS = 120_000;
/** One file of a snapshot: code hosts take no larger one, and a sparse file would be read to its end. */
export const GIT_FILE_BYTES_MAX = 100 * 1024 * 1024;
/** Repositories inside a repository that are searched; each costs some processes. */
export const GIT_NESTED_MAX = 20;
/** Files of one of them together: what an agent wrote is smaller, a copy of something else need not be in a patch. */
export const GIT_NESTED_BYTES_MAX = 16 * 1024 * 1024;
/** Paths named for one reason; the others are counted. */
export const GIT_FINDINGS_OF_KIND_MAX = 20;
/** All findings of a patch: they are sent in a header, of which clients take 16 KiB. */
export const GIT_FINDINGS_BYTES_MAX = 6 * 1024;
/** Each side of a file comparison; larger files answer with null on that side. */
export const GIT_DIFF_SIDE_BYTES_MAX = 10 * 1024 * 1024;

/** One model call, from request to last byte, when the request names no other time. */
export const LLM_TIMEOUT_S_DEFAULT = 600;
/** How long an unreachable endpoint is tried again: a restarting proxy is back well within it. */
export const LLM_RETRY_WINDOW_S_DEFAULT = 600;
export const LLM_BACKOFF_MS_MIN = 500;
export const LLM_BACKOFF_MS_MAX = 10_000;
/** Answers of 429 taken before the run pauses. */
export const LLM_RATE_LIMIT_RETRIES_MAX = 5;
/** A longer `retry-after` pauses the run at once: the server above can wait without a process (D6). */
export const LLM_RETRY_AFTER_MS_MAX = 120_000;
/** Answers of 200 that hold no message; more of them are a broken endpoint, and each costs money. */
export const LLM_MALFORMED_RETRIES_MAX = 2;
/** Bytes of one model answer. */
export const LLM_RESPONSE_BYTES_MAX = 32 * 1024 * 1024;
/** Tries to write the end of a run whose log could not be written: half an hour of them. */
export const LOG_WRITES_MAX = 900;
export const LOG_WRITE_WAIT_MS = 2_000;
/** Characters of the cause of a model call that is tried again, as it is reported while it lasts. */
export const TROUBLE_CHARS_MAX = 500;
/** Characters of an upstream's error text that reach an event. */
export const LLM_ERROR_CHARS_MAX = 2_000;
/** Tool calls taken from one answer; the rest would be a runaway model. */
export const TOOL_CALLS_PER_RESPONSE_MAX = 64;
/** Prompt size that starts trimming when the request names none. */
export const PROMPT_TOKENS_DEFAULT = 120_000;
/** Trimming goes down to this share of the bound, so that it is rare and provider caches stay warm. */
export const PROMPT_TRIM_SHARE = 0.5;

/** Webhook queue of one conversation: the server above reads what was lost from the event search. */
export const WEBHOOK_QUEUE_ITEMS_MAX = 1_000;
export const WEBHOOK_QUEUE_BYTES_MAX = 50 * 1024 * 1024;
/** One webhook body of several events; the server above reads those of all sandboxes in memory that they share. */
export const WEBHOOK_BATCH_BYTES_MAX = 1024 * 1024;
export const WEBHOOK_BATCH_EVENTS_MAX = 100;
export const WEBHOOK_TIMEOUT_MS = 30_000;

/** Tool servers of one conversation, and the tools that one of them may bring. */
export const MCP_SERVERS_MAX = 20;
export const MCP_TOOLS_MAX = 200;
/** Starting a tool server and listing its tools; a package may be unpacked first. */
export const MCP_CONNECT_MS = 60_000;
/** One call of such a tool when its configuration names no time. */
export const MCP_CALL_MS = 300_000;
/** A tool server whose input was closed is given so long before SIGTERM, and again before SIGKILL. */
export const MCP_END_MS = 2_000;
/** Plugins of one conversation, and the time to clone one. */
export const PLUGINS_MAX = 20;
export const PLUGIN_CLONE_MS = 120_000;
/** A file of a plugin or skill that is larger is no text for a prompt. */
export const SKILL_BYTES_MAX = 256 * 1024;
/** Skills of one folder, entries that are read to find them, and folders below each other. */
export const SKILLS_PER_FOLDER_MAX = 100;
export const SKILL_ENTRIES_MAX = 1_000;
export const SKILL_FOLDER_DEPTH_MAX = 4;
/** A name stands in every list of skills. */
export const SKILL_NAME_CHARS_MAX = 200;
/** All skills of a workspace together; most of it is in every prompt. */
export const WORKSPACE_SKILLS_BYTES_MAX = 1024 * 1024;

/** Listeners of one conversation; more are closed with 1013. */
export const SOCKETS_PER_CONVERSATION_MAX = 100;
/** Frames that wait for one slow listener before its place in the log stays behind. */
export const SOCKET_WAITING_BYTES_MAX = 1024 * 1024;
/** Between two pieces of a text that grows; each is at most so long, and the rest of what came meanwhile is left out. */
export const PARTIAL_EVERY_MS = 100;
export const PARTIAL_CHARS_MAX = 8 * 1024;
/** Of such a text in memory, beside what is needed to recognise a secret in it. */
export const PARTIAL_WAITING_CHARS_MAX = 64 * 1024;
/** A listener for whom more waits is sent no pieces until it has read. */
export const PARTIAL_WAITING_BYTES_MAX = 64 * 1024;
/** How long after its request for a run a client may begin to listen for the end of it. */
export const LATE_LISTENER_MS = 1_000;
/** Time for the first frame, which holds the key. */
export const SOCKET_AUTH_MS = 10_000;
/** Time a listener gets to answer the server's goodbye. */
export const SOCKET_CLOSE_MS = 500;
/** A listener that answers no ping for so long is gone. */
export const SOCKET_PING_MS = 30_000;

/** Time a stop waits for runs to end, and then for webhooks to leave. */
export const STOP_RUNS_MS = 2_000;
export const STOP_WEBHOOKS_MS = 1_000;
/** Time an interrupt or a deletion waits for the run to settle before it answers. */
export const SETTLE_MS = 10_000;

/** An agent's program lists its abilities, opens a session or chooses a mode: a package may be unpacked first. */
export const ACP_ANSWER_MS = 300_000;
/** A turn that was cancelled is given so long to end before its program is ended. */
export const ACP_CANCEL_MS = 8_000;
/** One message of an agent's program; files come in one, and images. */
export const ACP_MESSAGE_BYTES_MAX = 32 * 1024 * 1024;
/** Text or thoughts of an agent without a break. */
export const ACP_TEXT_CHARS_MAX = 256 * 1024;
/** Calls without a result; more are a runaway agent. */
export const ACP_CALLS_OPEN_MAX = 200;
/** Commands that an agent has its client run at once, and the output kept of one when it names no bound. */
export const ACP_TERMINALS_MAX = 50;
export const ACP_TERMINAL_BYTES_DEFAULT = 1024 * 1024;
/** The last words of an agent's program that an error repeats. */
export const ACP_COMPLAINT_CHARS_MAX = 1_000;
