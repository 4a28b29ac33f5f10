/**
 * The clock of a server that skips time, readable at once: between leaps it goes at the pace of the real one.
 * Owns the reading; must not be read during a leap.
 */
import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { Clock, Timer } from '../../ports/clock.ts';

/** A reading that took so long, in milliseconds, is as good as any; a worse one is tried again, so often. */
const EXACT_MS = 20;
const READINGS_MAX = 5;

export class ServerClock implements Clock {
  private readonly env: TestWorkflowEnvironment;
  private read = { serverMs: 0, realMs: 0 };
  private heldMs = 0;
  /** By how much it was set. */
  private setMs = 0;

  private constructor(env: TestWorkflowEnvironment) {
    this.env = env;
  }

  static async of(env: TestWorkflowEnvironment): Promise<ServerClock> {
    const clock = new ServerClock(env);
    await clock.compare();
    return clock;
  }

  now(): number {
    return Math.floor(this.read.serverMs + performance.now() - this.read.realMs);
  }

  /** Only `set` sets the clock of such a server: a leap is time that passes. */
  steady(): number {
    return this.now() - this.setMs;
  }

  /** Real time between leaps so far: by so much the server's clock went on though nothing should have been late. */
  get passedMs(): number {
    return this.heldMs + performance.now() - this.read.realMs;
  }

  setTimer(): Timer {
    throw new Error('Cannot arm a timer: time leaps, and only workflows hear of it');
  }

  /** Lets real time pass. */
  async pass(ms: number): Promise<void> {
    if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
  }

  async leapTo(at: number): Promise<void> {
    const ms = at - this.now();
    this.heldMs = this.passedMs;
    if (ms > 0) await this.env.sleep(ms);
    await this.compare();
  }

  /** On a busy machine an answer may be seconds old: the quickest of some is taken, for the middle of its way. */
  private async compare(): Promise<void> {
    let bestMs = Infinity;
    for (let reading = 0; reading < READINGS_MAX && bestMs > EXACT_MS; reading += 1) {
      const from = performance.now();
      const serverMs = await this.env.currentTimeMs();
      const tookMs = performance.now() - from;
      if (tookMs >= bestMs) continue;
      bestMs = tookMs;
      this.read = { serverMs, realMs: from + tookMs / 2 };
    }
  }
}
