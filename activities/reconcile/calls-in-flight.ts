/**
 * Rows of a bill whose call has not been recorded whole: one that is in flight learns its id at its end, and another
 * proxy brings its own to the store a little later. Neither is a difference.
 * Owns which rows that may be and how long they are waited for; must not judge a row.
 */
import type { GatewayRow, JoinableCall } from '../../core/money/spend.ts';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import type { Clock } from '../../ports/clock.ts';
import { sleepUntil } from '../sleep.ts';
import type { Bill } from './billed-rows.ts';

/** A gateway bills at the end of a call or shortly before it: what is open for longer is stuck, or was not this call. */
const IN_FLIGHT_WAIT_MS_MAX = MINUTE_MS;
/** A proxy brings what it has to the store several times a second. */
const UNWRITTEN_WAIT_MS_MAX = 2 * SECOND_MS;
/** A row that ended before has had its time, even where clocks differ a little. */
const RECENT_MS = 5 * SECOND_MS;
/** All calls are read again at each look. */
const POLL_MS_MIN = 100;
const POLL_MS_MAX = 10 * SECOND_MS;

interface Tolerance {
  readonly windowBeforeMs: number;
  readonly windowAfterMs: number;
  /** The name under which our proxy knows a model that the gateway bills. */
  readonly knownName: (model: string) => string;
}

export class CallsInFlight {
  private readonly clock: Clock;
  private readonly bill: Bill;
  private readonly tolerance: Tolerance;
  private readonly since: number;
  private unknown: Set<string>;
  private open: JoinableCall[] = [];
  private pollMs = POLL_MS_MIN;

  constructor(clock: Clock, bill: Bill, tolerance: Tolerance) {
    this.clock = clock;
    this.bill = bill;
    this.tolerance = tolerance;
    this.since = clock.steady();
    this.unknown = this.named();
  }

  /** Every call that is in the store, at each look anew. */
  see(call: JoinableCall): void {
    if (call.responseId !== null) this.unknown.delete(call.responseId);
    if (call.state === 'open') this.open.push(call);
  }

  /** False when no row waits for its call any more; after true all calls have to be seen again. */
  async waits(signal: AbortSignal = new AbortController().signal): Promise<boolean> {
    const waitedMs = this.clock.steady() - this.since;
    const mayCome = this.bill.rows.some((row) => this.mayCome(row, waitedMs));
    if (!mayCome || signal.aborted) return false;
    await sleepUntil(this.clock, this.clock.now() + this.pollMs, signal);
    this.pollMs = Math.min(2 * this.pollMs, POLL_MS_MAX);
    this.unknown = this.named();
    this.open = [];
    return true;
  }

  private named(): Set<string> {
    return new Set(this.bill.rows.flatMap(({ responseId }) => responseId ?? []));
  }

  private mayCome(row: GatewayRow, waitedMs: number): boolean {
    if (row.responseId === null || !this.unknown.has(row.responseId)) return false;
    const isRecent = row.endedAt >= this.bill.readAt - RECENT_MS;
    if (isRecent && waitedMs < UNWRITTEN_WAIT_MS_MAX) return true;
    return waitedMs < IN_FLIGHT_WAIT_MS_MAX && this.open.some((call) => this.fits(row, call));
  }

  private fits(row: GatewayRow, { modelName, upstreamModel, startedAt }: JoinableCall): boolean {
    const { windowBeforeMs, windowAfterMs, knownName } = this.tolerance;
    const model = knownName(row.model);
    if (model !== modelName && model !== upstreamModel) return false;
    return row.startedAt >= startedAt - windowBeforeMs && row.startedAt <= startedAt + windowAfterMs;
  }
}
