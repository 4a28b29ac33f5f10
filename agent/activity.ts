/**
 * When this server last did something (D9). Owns the clock reading and the leases; what counts is the callers' say.
 */
import type { World } from './world.ts';

export class Activity {
  readonly #world: World;
  readonly startedMs: number;
  #lastMs: number;
  #leases = 0;

  constructor(world: World) {
    this.#world = world;
    this.startedMs = world.nowMs();
    this.#lastMs = this.startedMs;
  }

  touch(): void {
    this.#lastMs = this.#world.nowMs();
  }

  /** Runs `work` under a lease: the server is not idle until it has ended, however silent it is. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    this.#leases += 1;
    try {
      return await work();
    } finally {
      this.#leases -= 1;
      this.touch();
    }
  }

  /** Seconds since the last activity; 0 while a lease is held. */
  idleSeconds(): number {
    return this.#leases > 0 ? 0 : Math.max(0, (this.#world.nowMs() - this.#lastMs) / 1000);
  }

  uptimeSeconds(): number {
    return Math.max(0, (this.#world.nowMs() - this.startedMs) / 1000);
  }
}
