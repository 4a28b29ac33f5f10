/**
 * Refused callers in the audit log: a wrong key is recorded, and a flood of them does not fill the log.
 * Owns how often one is noted; what was sent is in none of the notes (D20).
 */
import { ParleyError } from '../core/parley-error.ts';
import type { AuditLog } from '../ports/audit-log.ts';
import type { Clock } from '../ports/clock.ts';
import { Buckets } from './rates/rate-limit.ts';

/** One note a minute for one place and status: further ones would only repeat the first. */
const PER_PLACE = { burst: 1, perSecond: 1 / 60 };
/** From many places at once: no more rows than an administrator would read. */
const IN_ALL = { burst: 100, perSecond: 1 };

export interface Refusal {
  /** The route, and the address it was called from. */
  readonly about: string;
  readonly status: number;
}

export class RefusalNotes {
  readonly #audit: AuditLog;
  readonly #clock: Clock;
  readonly #perPlace: Buckets;
  readonly #inAll: Buckets;

  constructor(audit: AuditLog, clock: Clock) {
    this.#audit = audit;
    this.#clock = clock;
    this.#perPlace = new Buckets(PER_PLACE, clock);
    this.#inAll = new Buckets(IN_ALL, clock);
  }

  async note({ about, status }: Refusal): Promise<void> {
    if (!this.#isDue(`${status} ${about}`)) return;
    const nobody = { userId: null, keyId: null };
    await this.#audit.append({ at: this.#clock.now(), ...nobody, action: 'refused', about, status });
  }

  #isDue(place: string): boolean {
    try {
      this.#perPlace.take(place);
      this.#inAll.take('all');
      return true;
    } catch (error) {
      if (error instanceof ParleyError && error.code === 'rate_limited') return false;
      throw error;
    }
  }
}
