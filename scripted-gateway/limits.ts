// Every bound of the scripted gateway, with its reason. No logic lives here.

/** A script is written by hand; a larger text is a mistake (a log, a binary) and would only slow the start. */
export const scriptBytesMax = 4 * 1024 * 1024;

/** One file named in arguments becomes part of one tool call; vendors refuse larger ones. */
export const argumentFileBytesMax = 1024 * 1024;

/** Arguments deeper than this are a mistake, and the walk over them is recursive. */
export const argumentDepthMax = 32;

/** Tool call ids are at most 40 characters at vendors: `call_` + name + `_` + turn (3) + `_` + call (2). */
export const scriptNameCharsMax = 28;

/** Three digits of turn index in a tool call id. */
export const turnCountMax = 1000;

/** Two digits of call index in a tool call id. */
export const callsPerTurnMax = 100;

/** Ten minutes, the longest a client waits for a model in practice. */
export const latencyMsMax = 600_000;

/** One hour; a longer `retry_after` would outlive any run that tests it. */
export const retryAfterSecondsMax = 3600;

/** A pattern is matched against every prompt; one longer than a line is a mistake. */
export const patternCharsMax = 200;

/** A thousand million tokens in one call: far above any model, far below where numbers lose exactness. */
export const tokensPerCallMax = 1_000_000_000;

/** A dollar for each token: above any real price, and low enough that no cost outgrows its text. */
export const priceUsdPerMillionMax = 1_000_000n;

/** Agents send whole histories with images; a vendor's own limit is of this order. */
export const requestBytesMax = 32 * 1024 * 1024;

/** Rows are held in memory for the export: about half a gigabyte at this count, after which calls are refused. */
export const ledgerRowsMax = 1_000_000;

/** Remembered "this error was answered" marks; the oldest is forgotten first and would be answered again. */
export const answeredErrorsMax = 10_000;

/** How many rows one chunk of an export carries: large enough to be cheap, small enough to keep the loop free. */
export const exportRowsPerChunk = 256;

/** A stop waits this long for calls under way; what was billed is on disk already. */
export const stopGraceMs = 5000;
