/**
 * Sends a message to a webhook over HTTP, signed as the Standard Webhooks specification says.
 * Owns headers, signature and bounds; must not decide what is sent, nor follow where a receiver sends it on to.
 */
import { createHmac } from 'node:crypto';
import { request } from 'undici';
import { ParleyError } from '../core/parley-error.ts';
import { WEBHOOK_ADDRESS } from '../core/webhook-address.ts';
import type { WebhookMessage, WebhookSender } from '../ports/webhook-sender.ts';

/** A receiver that works before it answers should take the message first; tries are repeated. */
const ANSWER_TIMEOUT_MS = 10_000;
/** Statuses of a receiver that may answer otherwise later; so may every 5xx. */
const PASSING_STATUSES: ReadonlySet<number> = new Set([408, 425, 429]);
/** Keys that were made for webhooks say so, and are base64 behind it. */
const KEY_PREFIX = 'whsec_';

/** Keeps nothing between two messages. */
export function createWebhookSender(): WebhookSender {
  return { send };
}

async function send(message: WebhookMessage): Promise<void> {
  if (!WEBHOOK_ADDRESS.test(message.url))
    throw new ParleyError('notify_refused', 'Cannot notify: the address is neither https nor this machine');
  const status = await statusOf(message);
  if (status >= 200 && status < 300) return;
  const isPassing = status >= 500 || PASSING_STATUSES.has(status);
  throw new ParleyError(
    isPassing ? 'notify_failed' : 'notify_refused',
    `Cannot notify: the receiver answered ${status}`,
  );
}

async function statusOf({ url, body, signal, ...rest }: WebhookMessage): Promise<number> {
  try {
    const response = await request(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed({ body, ...rest }) },
      body,
      headersTimeout: ANSWER_TIMEOUT_MS,
      bodyTimeout: ANSWER_TIMEOUT_MS,
      signal,
    });
    // The rest of the answer is not needed, and may be long.
    await response.body.dump();
    return response.statusCode;
  } catch (cause) {
    // The message of the error may name the address.
    throw new ParleyError('notify_failed', `Cannot notify: the receiver does not answer (${codeOf(cause)})`);
  }
}

function codeOf(cause: unknown): string {
  if (typeof cause !== 'object' || cause === null) return 'unknown';
  const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown };
  return typeof code === 'string' ? code : String(name);
}

/** `webhook-id`, `webhook-timestamp` in seconds, and the signature over both and the body. */
export function signed({ id, at, body, key }: Pick<WebhookMessage, 'id' | 'at' | 'body' | 'key'>) {
  const timestamp = String(Math.floor(at / 1_000));
  const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  if (key === null) return headers;
  const mac = createHmac('sha256', keyBytes(key)).update(`${id}.${timestamp}.${body}`).digest('base64');
  return { ...headers, 'webhook-signature': `v1,${mac}` };
}

function keyBytes(key: string): Buffer {
  return key.startsWith(KEY_PREFIX)
    ? Buffer.from(key.slice(KEY_PREFIX.length), 'base64')
    : Buffer.from(key, 'utf8');
}
