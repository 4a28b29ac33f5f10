/**
 * What is held up by faults: every piece arrives at its instant, or at once when the world heals.
 * Owns the list of what is held; must not decide what is, or for how long.
 */
import type { ModelPort } from '../model-port.ts';

export class Held {
  private readonly waiting = new Set<() => void>();
  private readonly port: ModelPort;
  /** True once everything was let go. */
  isOpen = false;

  constructor(port: ModelPort) {
    this.port = port;
  }

  /** Runs once: at that instant, epoch milliseconds, or when everything is let go. */
  until(at: number, run: () => void): void {
    const once = (): void => {
      if (this.waiting.delete(once)) run();
    };
    this.waiting.add(once);
    this.port.later(null, this.isOpen ? this.port.now() : at, once);
  }

  /** From now on nothing is held: all of it happens now, in the order in which it was held up. */
  letGo(): void {
    this.isOpen = true;
    for (const once of this.waiting) this.port.later(null, this.port.now(), once);
  }
}
