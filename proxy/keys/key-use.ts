/**
 * How much of its limits a virtual key has used: requests and tokens of this minute, calls in flight, budget window.
 * Owns the counting and the refusal of one key; money itself is in its account. Must not know its user or its store.
 * A minute and a budget's window are aligned, so that the rest can be computed without a log of calls.
 */
import { budgetWindow } from '../../core/money/budget-window.ts';
import type { ProxyKeyRecord } from '../../ports/proxy-keys.ts';
import { BudgetAccount } from '../spend/budget-account.ts';
import { failure, type Failure } from '../failure.ts';

export const MINUTE_MS = 60_000;

export interface KeyUse {
  /** Start of the minute that `requests` and `tokens` count in. */
  minute: number;
  requests: number;
  tokens: number;
  inFlight: number;
  /** Start of the window that the account counts in. */
  windowFrom: number;
  readonly account: BudgetAccount;
}

export function freshUse(record: ProxyKeyRecord, now: number, spentNanoUsd: number): KeyUse {
  return {
    minute: minuteOf(now),
    requests: 0,
    tokens: 0,
    inFlight: 0,
    windowFrom: budgetWindow(record, now),
    account: new BudgetAccount(record.budgetNanoUsd, spentNanoUsd),
  };
}

/** Why the next call is refused at `now`; null when it may be sent. Counts nothing but the passing of time. */
export function refusalOf(record: ProxyKeyRecord, use: KeyUse, now: number): Failure | null {
  roll(record, use, now);
  const untilMinute = use.minute + MINUTE_MS - now;
  if (record.rpm !== null && use.requests >= record.rpm)
    return limited(record, `${record.rpm} requests a minute`, untilMinute);
  if (record.tpm !== null && use.tokens >= record.tpm)
    return limited(record, `${record.tpm} tokens a minute`, untilMinute);
  if (record.parallelMax !== null && use.inFlight >= record.parallelMax)
    return limited(record, `${record.parallelMax} calls at one time`, null);
  return null;
}

/** Seconds until the budget's next window begins. */
export function nextWindowS(
  record: ProxyKeyRecord,
  use: Pick<KeyUse, 'windowFrom'>,
  now: number,
): number | null {
  return seconds(record.budgetWindowMs === null ? null : use.windowFrom + record.budgetWindowMs - now);
}

export function countBegin(use: KeyUse): void {
  use.requests += 1;
  use.inFlight += 1;
}

export function countEnd(use: KeyUse, tokens: number): void {
  use.inFlight -= 1;
  use.tokens += tokens;
}

function roll(record: ProxyKeyRecord, use: KeyUse, now: number): void {
  const minute = minuteOf(now);
  if (minute !== use.minute) Object.assign(use, { minute, requests: 0, tokens: 0 });
  const windowFrom = budgetWindow(record, now);
  if (windowFrom === use.windowFrom) return;
  use.windowFrom = windowFrom;
  use.account.beginWindow();
}

export function minuteOf(now: number): number {
  return now - (now % MINUTE_MS);
}

/** `untilMs`: milliseconds until a retry may succeed; null where that is unknown. */
export function limited(record: ProxyKeyRecord, limit: string, untilMs: number | null): Failure {
  const message = `Cannot call the model: the key "${record.name}" may do no more than ${limit}`;
  return { ...failure('rate_limited', message), retryAfterS: seconds(untilMs) };
}

/** Rounded up, so that a caller who waits that long is not refused again; 1 where it is unknown. */
function seconds(ms: number | null): number | null {
  return ms === null ? 1 : Math.max(1, Math.ceil(ms / 1_000));
}
