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

/** So many callers without a pause, for so long; how many calls were answered with success. */
export async function callFor(
  proxyUrls: readonly string[],
  { callers, seconds }: { readonly callers: number; readonly seconds: number },
): Promise<number> {
  const key = await makeKey(proxyUrls);
  const caller = new Caller(proxyUrls);
  const until = Date.now() + seconds * 1_000;
  let calls = 0;
  const call = async (): Promise<void> => {
    while (Date.now() < until) if ((await askOnce(caller, key).catch(() => 0)) === 200) calls += 1;
  };
  await Promise.all(Array.from({ length: callers }, call));
  return calls;
}

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
    const key = await makeKey(proxyUrls);
    const calls = new DirectCalls(new Caller(proxyUrls));
    calls.#running = Promise.all(Array.from({ length: CALLERS }, () => calls.#callOn(key)));
    return calls;
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await this.#running;
  }

  async #callOn(key: string): Promise<void> {
    for (; !this.#isOver; await pause(PAUSE_MS)) {
      const status = await askOnce(this.#caller, key).catch(() => 0);
      this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
    }
  }
}

/** With a budget, so that the proxies share it. */
async function makeKey(proxyUrls: readonly string[]): Promise<string> {
  const admin = new Caller(proxyUrls, { token: MASTER_KEY });
  const body = { key_alias: 'direct', max_budget: 1_000 };
  const made = await admin.call({ method: 'POST', path: '/key/generate', body });
  return (made.body as { readonly key: string }).key;
}

/** At the next proxy. @throws Error no answer, or one that broke off */
async function askOnce(caller: Caller, key: string): Promise<number> {
  const response = await fetch(`${caller.next()}/v1/chat/completions`, {
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
