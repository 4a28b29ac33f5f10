// What every route is handed: the script, the keys, the ledger, and time and randomness as parameters.
// Types only; it must not grow behaviour.

import type { AnsweredErrors } from './answered-errors.ts';
import type { KeyRing } from './key-ring.ts';
import type { Ledger } from './ledger.ts';
import type { GatewayScript } from './script/script.ts';

export interface GatewayContext {
  readonly script: GatewayScript;
  readonly ring: KeyRing;
  readonly ledger: Ledger;
  readonly answeredErrors: AnsweredErrors;
  /** Milliseconds since 1970. */
  readonly nowMs: () => number;
  /** Unique text for response ids. */
  readonly randomId: () => string;
  /** Waits; rejects when the signal aborts. */
  readonly sleep: (delayMs: number, signal: AbortSignal) => Promise<void>;
}
