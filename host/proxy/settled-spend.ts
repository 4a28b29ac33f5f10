/**
 * The spend log as the rest of the process reads it: calls that have ended are in it.
 * Owns bringing in, before every reading, what the proxy keeps off its hot path; without a proxy, what is stored counts.
 */
import type { SpendLog } from '../../ports/spend-log.ts';

export interface SettledSpend extends SpendLog {
  /** From now on `flush` comes before every reading; it must not throw. */
  flushWith(flush: () => Promise<void>): void;
}

export function settledSpend(spend: SpendLog): SettledSpend {
  let flush: () => Promise<void> = () => Promise.resolve();
  return {
    write: (rows) => spend.write(rows),
    missing: (callIds) => spend.missing(callIds),
    noteLoss: (loss) => spend.noteLoss(loss),
    async losses() {
      await flush();
      return spend.losses();
    },
    interruptOpen: (at) => spend.interruptOpen(at),
    async search(query) {
      await flush();
      return spend.search(query);
    },
    async joinable(page) {
      await flush();
      return spend.joinable(page);
    },
    flushWith(given) {
      flush = given;
    },
  };
}
