/**
 * One call of the client over HTTP: sent, sent again where that is harmless and worth it, and read.
 * Owns the retries; must not know an operation.
 */
import { retryAfterMs } from '../../core/retry-after.ts';
import { ClientError } from './client-error.ts';

/** Where the service is and the caller's key; the rest has defaults. */
export interface TransportOptions {
  /** Where `parley serve` is reached, without a trailing slash. */
  readonly url: string;
  readonly key: string;
  /** The platform's own by default. */
  readonly fetch?: typeof fetch;
  /** Times that one call is sent; 5 by default, 1 never repeats. */
  readonly triesMax?: number;
  /** Ends every call and stream. */
  readonly signal?: AbortSignal;
}

/** One request, before it is tried. */
export interface Sent {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly signal?: AbortSignal | undefined;
}

const TRIES_MAX = 5;
/** Doubled with every try, when the server names no time. */
const WAIT_MS = 250;
/** When the server names a longer wait, the caller gets its error instead. */
export const WAIT_MS_MAX = 30_000;
/** Of these the server says that nothing was done. */
const AGAIN = new Set([429, 503]);

/** @throws ClientError; TypeError when the server cannot be reached */
export async function sendCall(options: TransportOptions, sent: Sent): Promise<Response> {
  const { triesMax = TRIES_MAX } = options;
  for (let tried = 1; ; tried += 1) {
    const outcome = await once(options, sent);
    if (outcome.ok) return outcome.response;
    const waitMs = waitOf(outcome.error, sent, tried);
    if (tried >= triesMax || waitMs === null || waitMs > WAIT_MS_MAX) throw outcome.error;
    await wait(waitMs, sent.signal ?? options.signal);
  }
}

type Outcome =
  { readonly ok: true; readonly response: Response } | { readonly ok: false; readonly error: unknown };

async function once(options: TransportOptions, sent: Sent): Promise<Outcome> {
  const { method, path, headers = {}, body } = sent;
  const call = options.fetch ?? fetch;
  const signal = sent.signal ?? options.signal;
  try {
    const response = await call(`${options.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${options.key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal === undefined ? {} : { signal }),
    });
    return response.ok ? { ok: true, response } : { ok: false, error: await errorOf(response) };
  } catch (error) {
    return { ok: false, error };
  }
}

async function errorOf(response: Response): Promise<ClientError> {
  const body = await response.json().catch(() => null);
  const askedMs = retryAfterMs(response.headers.get('retry-after'), Date.now());
  return new ClientError(response.status, body, askedMs);
}

/** Null when the call is not sent again: it was refused for good, or may have been done without an answer. */
function waitOf(error: unknown, { method }: Sent, tried: number): number | null {
  const doubled = WAIT_MS * 2 ** (tried - 1);
  if (error instanceof ClientError) return AGAIN.has(error.status) ? (error.retryAfterMs ?? doubled) : null;
  return error instanceof TypeError && method === 'GET' ? doubled : null;
}

/** @throws the reason of the signal */
export async function wait(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(done, ms);
    const cut = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    function done(): void {
      signal?.removeEventListener('abort', cut);
      resolve();
    }
    signal?.addEventListener('abort', cut, { once: true });
  });
}
