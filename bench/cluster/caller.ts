/**
 * A client behind no balancer: each call, and each repeat of one, goes to the next service.
 * Owns what is sent again, always under the same key: a request without an answer, or with a retryable one.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { API_KEY } from './deployment.ts';

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- every answer has another shape
export type Body = any;

export interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly body?: object;
  /** Idempotency-Key: what is sent twice under it is done once. */
  readonly key?: string;
  /** Codes that are final answers and are not retried. */
  readonly takes?: readonly string[];
}

export interface Answer {
  readonly status: number;
  readonly body: Body;
}

/** One try: longer than a start waits for the engine. */
const TRY_MS = 45_000;
/** Services are away for seconds, on a machine that is busy starting them again. */
const PATIENCE_MS = 300_000;
const PAUSE_MS = 250;
/** Retryable codes: the service is still starting, or another request about the same is under way. */
const PASSING = new Set(['store_conflict', 'sandbox_starting', 'rate_limited', 'queue_full']);

export class Caller {
  readonly #urls: readonly string[];
  readonly #token: string;
  readonly counts: { calls: number; tries: number };
  #turn: number;

  constructor(urls: readonly string[], { turn = 0, token = API_KEY } = {}) {
    this.#urls = urls;
    this.#token = token;
    this.#turn = turn;
    this.counts = { calls: 0, tries: 0 };
  }

  next(): string {
    this.#turn += 1;
    return this.#urls[this.#turn % this.#urls.length] ?? '';
  }

  /** A success or a refusal. @throws Error no service answered within the patience */
  async call(call: Call): Promise<Answer> {
    this.counts.calls += 1;
    let last = 'nobody was asked';
    for (const until = Date.now() + PATIENCE_MS; Date.now() < until; await pause(PAUSE_MS)) {
      this.counts.tries += 1;
      const answer = await this.#once(call).catch((error: unknown) => String(error));
      if (typeof answer !== 'string' && !asksForPatience(answer, call)) return answer;
      last = typeof answer === 'string' ? answer : `${answer.status} ${JSON.stringify(answer.body)}`;
    }
    throw new Error(
      `${call.method ?? 'GET'} ${call.path} had no answer in ${PATIENCE_MS / 1_000} s: ${last}`,
    );
  }

  /** A body. @throws Error a refusal */
  async get(path: string): Promise<Body> {
    const { status, body } = await this.call({ path });
    if (status >= 400) throw new Error(`GET ${path}: ${status} ${JSON.stringify(body)}`);
    return body;
  }

  /** Everything that pages hold. */
  async pages(path: string): Promise<readonly Body[]> {
    const items: Body[] = [];
    let page: string | null = null;
    do {
      const more = page === null ? '' : `&page_id=${encodeURIComponent(page)}`;
      const body = await this.get(`${path}${path.includes('?') ? '&' : '?'}limit=100${more}`);
      items.push(...body.items);
      page = body.next_page_id;
    } while (page !== null);
    return items;
  }

  async #once({ method = 'GET', path, body, key }: Call): Promise<Answer> {
    const response = await fetch(`${this.next()}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(key === undefined ? {} : { 'idempotency-key': key }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(TRY_MS),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : (JSON.parse(text) as Body) };
  }
}

function asksForPatience({ status, body }: Answer, { takes = [] }: Call): boolean {
  if (takes.includes(body?.code)) return false;
  return status >= 500 || PASSING.has(body?.code);
}
