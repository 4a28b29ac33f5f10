// What every route is handed: the script, the keys, the ledger, and time and randomness as parameters.
// Types only; it must not grow behaviour.
import type { KeyRing } from './key-ring.ts';
import type { Ledger } from './ledger.ts';
import { answeredErrorsMax } from './limits.ts';
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

/** Who got which error; `caller` is the session id, or the key's name without one. */
interface ErrorMark {
  readonly scriptName: string;
  readonly turnIndex: number;
  readonly caller: string;
}

/** A bounded set of marks. After a restart, or when a mark was pushed out, the error is answered once more. */
export class AnsweredErrors {
  readonly #marks = new Set<string>();

  /** Marks the error as answered; false when it already was. */
  add(mark: ErrorMark): boolean {
    const text = textOf(mark);
    if (this.#marks.has(text)) return false;
    this.#marks.add(text);
    const oldest = this.#marks.values().next().value;
    if (this.#marks.size > answeredErrorsMax && oldest !== undefined) this.#marks.delete(oldest);
    return true;
  }

  /** Takes a mark back: the caller left before the answer. */
  remove(mark: ErrorMark): void {
    this.#marks.delete(textOf(mark));
  }
}

function textOf(mark: ErrorMark): string {
  return JSON.stringify([mark.scriptName, mark.turnIndex, mark.caller]);
}
