/**
 * Calls of a model at the proxies themselves, each at the next proxy, under one virtual key with a budget.
 * Owns the callers and what they were answered; whether the books agree is the judge's.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { Caller } from './caller.ts';
import { DIRECT, MASTER_KEY } from './deployment.ts';

const CALLERS = 2;
const PAUSE_MS = 300;
const TRY_MS = 30_000;

export class DirectCalls {
  /** How often each status came; 0 for no answer, or one that broke off. */
  readonly statuses = new Map<number, number>();
  readonly #caller: Caller;
  #isOver = false;
  #running: Promise<unknown> = Promise.resolve();

  private constructor(caller: Caller) {
    this.#caller = caller;
  }

  static async begin(proxyUrls: readonly string[]): Promise<DirectCalls> {
    const admin = new Caller(proxyUrls, { token: MASTER_KEY });
    const made = await admin.call({
      ...{ method: 'POST', path: '/key/generate', body: { key_alias: 'direct', max_budget: 1_000 } },
    });
    const { key } = made.body as { readonly key: string };
    const calls = new DirectCalls(new Caller(proxyUrls, { token: key }));
    calls.#running = Promise.all(Array.from({ length: CALLERS }, () => calls.#callOn(key)));
    return calls;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #callOn(key: string): Promise<void> {
    for (; !this.#isOver; await pause(PAUSE_MS)) {
      const status = await this.#once(key).catch(() => 0);
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    }
  }

  async #once(key: string): Promise<number> {
    const response = await fetch(`${this.#caller.next()}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ model: 'default', max_tokens: 100, messages: [{ role: 'user', content: `${DIRECT}.` }] },
      }),
      signal: AbortSignal.timeout(TRY_MS),
    });
    await response.arrayBuffer();
    return response.status;
  }
}
