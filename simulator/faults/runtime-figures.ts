/**
 * Figures of the faults of runtimes and agents: how long they last, and when they begin.
 * Owns the ranges with their reasons; which fault strikes when is decided by the injector.
 */
import { HOUR_MS, MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { Range } from './figures.ts';

/** A call that hangs and is not given up: within and beyond every deadline of a sandbox. */
export const SLOW_CALL: Range = { minMs: MINUTE_MS, maxMs: 4 * HOUR_MS };
/** A caller that gets no answer waits for its own timeout. */
export const UNHEARD: Range = { minMs: 10 * SECOND_MS, maxMs: 5 * MINUTE_MS };
/** A repeat in a queue that was stuck. */
export const REPEATED_CALL: Range = { minMs: SECOND_MS, maxMs: 13 * HOUR_MS };
/** An Agent Server that reads a large conversation before it answers. */
export const NOT_READY: Range = { minMs: SECOND_MS, maxMs: 5 * MINUTE_MS };
/** At any time of a session. */
export const INTO_SESSION: Range = { minMs: SECOND_MS, maxMs: 11 * HOUR_MS };
/** Right after the boot: dying again and again. */
export const SOON_AFTER_BOOT: Range = { minMs: SECOND_MS, maxMs: 2 * MINUTE_MS };
/** At any time after a release, the Deletion Time of days included. */
export const INTO_RELEASE: Range = { minMs: SECOND_MS, maxMs: 72 * HOUR_MS };
/** From a debugger to an operator who forgot it. */
export const FROZEN_OUTSIDE: Range = { minMs: 10 * SECOND_MS, maxMs: 3 * HOUR_MS };
/** A daemon that is upgraded, or whose host swaps. */
export const DAEMON_AWAY: Range = { minMs: 2 * SECOND_MS, maxMs: HOUR_MS };
/** A node gives its sandboxes so long. */
export const DRAIN: Range = { minMs: SECOND_MS, maxMs: 5 * MINUTE_MS };
/** Until an operator makes room, or raises the quota. */
export const SHORTAGE: Range = { minMs: SECOND_MS, maxMs: 2 * HOUR_MS };
export const EVENTS_CUT: Range = { minMs: SECOND_MS, maxMs: HOUR_MS };
export const EVENT_LATE: Range = { minMs: SECOND_MS, maxMs: HOUR_MS };
/** Until the runtime reads the start time of the process. */
export const MISTAKEN_FOR: Range = { minMs: SECOND_MS, maxMs: 30 * MINUTE_MS };
/** Until a report shows the truth again. */
export const STALE_RUNNING: Range = { minMs: SECOND_MS, maxMs: 2 * HOUR_MS };
/** Activity that was none: up to so long after the last one. */
export const IDLE_TIME_OFF: Range = { minMs: SECOND_MS, maxMs: HOUR_MS };
export const AGENT_CLOCK_STILL: Range = { minMs: MINUTE_MS, maxMs: 6 * HOUR_MS };
export const CALLBACK_LATE: Range = { minMs: 1, maxMs: 10 * MINUTE_MS };
/** A limit of a provider, or an outage of it. */
export const GATEWAY_OUT: Range = { minMs: 10 * SECOND_MS, maxMs: HOUR_MS };
/** Between two outages of a moment's chance agents get something done. */
export const GATEWAY_REST_MS = 20 * MINUTE_MS;

/** An event of a death reaches the product so fast when nothing goes wrong. */
export const EVENT_MS = 200;
/** A call of an Agent Server is given up after this time, as the product's client does. */
export const AGENT_CALL_TIMEOUT_MS = 30 * SECOND_MS;
/** A call of a runtime that hangs is given up after this time. */
export const RUNTIME_CALL_TIMEOUT_MS = MINUTE_MS;
