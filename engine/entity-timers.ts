/**
 * One timer per entity, moved when its deadline moves.
 * Owns which entities have a deadline ahead; what is due is the machines' to say.
 */
import { addressFromKey, addressKey, type EntityAddress } from '../core/ids.ts';
import type { Clock, Timer } from '../ports/clock.ts';

export class EntityTimers {
  private readonly armed = new Map<string, { readonly at: number; readonly timer: Timer }>();
  private readonly clock: Clock;
  private readonly strike: (address: EntityAddress) => void;

  /** `strike` is called for each deadline that has come. */
  constructor(clock: Clock, strike: (address: EntityAddress) => void) {
    this.clock = clock;
    this.strike = strike;
  }

  get addresses(): readonly EntityAddress[] {
    return [...this.armed.keys()].map(addressFromKey);
  }

  /** `at`: epoch milliseconds; null for no deadline. */
  arm(address: EntityAddress, at: number | null): void {
    const key = addressKey(address);
    const known = this.armed.get(key);
    if (known?.at === at) return;
    known?.timer.cancel();
    this.armed.delete(key);
    if (at === null) return;
    const timer = this.clock.setTimer(at, () => {
      this.armed.delete(key);
      this.strike(address);
    });
    this.armed.set(key, { at, timer });
  }

  cancelAll(): void {
    for (const { timer } of this.armed.values()) timer.cancel();
    this.armed.clear();
  }
}
