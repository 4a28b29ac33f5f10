/**
 * One request and its reply on the caller's side.
 * Owns reading a bounded body and writing JSON and envelopes; must not know a route.
 */
import type { IncomingMessage, OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { ByteHold } from '../../core/shares/held-bytes.ts';
import { parsedJson } from '../../core/text/parsed-json.ts';
import { BodyChunks } from './body-chunks.ts';
import { envelope, failure, type Failure } from '../failure.ts';
import { asObject, type JsonObject } from './json-value.ts';
import type { RelayKind } from './relay-kind.ts';
import { ADMIN_REQUEST_BYTES_MAX, CROWDED_RETRY_AFTER_S } from '../limits.ts';

export interface Exchange {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly url: Pick<URL, 'pathname' | 'searchParams'>;
}

export function sendJson(res: ServerResponse, status: number, body: unknown): void {
  sendBody(res, { status, headers: [], body: JSON.stringify(body) });
}

/** What a failure of a relayed call is sent with. */
export interface FailureForm {
  /** Name and value alternating. */
  readonly ownHeaders?: readonly OutgoingHttpHeader[];
  /** Absent: in the words of all other routes. */
  readonly kind?: Pick<RelayKind, 'words'>;
}

export function sendFailure(
  res: ServerResponse,
  failed: Failure,
  { ownHeaders = [], kind }: FailureForm = {},
): void {
  const { retryAfterS } = failed;
  const headers =
    typeof retryAfterS === 'number' ? [...ownHeaders, 'retry-after', retryAfterS] : [...ownHeaders];
  sendBody(res, { status: failed.status, headers, body: envelope(failed, kind?.words) });
}

/** Nothing is sent to a caller that already has a reply or is gone. */
function sendBody(
  res: ServerResponse,
  reply: { readonly status: number; readonly headers: OutgoingHttpHeader[]; readonly body: string },
): void {
  if (res.headersSent || res.destroyed) return;
  const length = Buffer.byteLength(reply.body);
  reply.headers.push('content-type', 'application/json', 'content-length', length);
  res.writeHead(reply.status, reply.headers);
  res.end(reply.body);
}

/** Ends the connection after what was written, so that the caller notices that its reply is incomplete. */
export function breakOff(res: ServerResponse): void {
  if (res.socket === null) res.destroy();
  else res.socket.destroySoon();
}

/** Why a body is refused for which other bodies leave no room. */
export const NO_ROOM = 'its body finds no room beside those in flight';

/** The whole body, or why there is none. A caller that is gone gives a failure, which reaches no client. */
export function readBody(
  req: IncomingMessage,
  bytesMax: number,
  hold: Pick<ByteHold, 'take'> | null = null,
): Promise<BodyChunks | Failure> {
  const tooLarge = failure(
    'request_too_large',
    `Cannot read the request: its body is over ${bytesMax} bytes`,
  );
  if (Number(req.headers['content-length'] ?? 0) > bytesMax) return Promise.resolve(tooLarge);
  return new Promise((resolve) => {
    let chunks: Buffer[] = [];
    let length = 0;
    let isRefused = false;
    const refuse = (failed: Failure): void => {
      isRefused = true;
      // Later chunks are not kept either.
      chunks = [];
      resolve(failed);
    };
    req.on('data', (chunk: Buffer) => {
      if (isRefused) return;
      length += chunk.length;
      if (length > bytesMax) refuse(tooLarge);
      else if (hold?.take(chunk.length) === false) refuse(crowded(NO_ROOM));
      else chunks.push(chunk);
    });
    req.on('end', () => resolve(new BodyChunks(chunks)));
    req.on('close', () =>
      resolve(failure('invalid_request', 'Cannot read the request: the caller went away')),
    );
  });
}

/** One caller, or all together, have too much under way: the same call may succeed in a moment. */
export function crowded(why: string): Failure {
  return { ...failure('rate_limited', `Cannot take the call: ${why}`), retryAfterS: CROWDED_RETRY_AFTER_S };
}

/** The body of an admin route as a JSON object, or why there is none. */
export async function readJsonBody(
  req: IncomingMessage,
): Promise<{ readonly json: JsonObject } | { readonly failed: Failure }> {
  const body = await readBody(req, ADMIN_REQUEST_BYTES_MAX);
  if ('code' in body) return { failed: body };
  const json = asObject(parsedJson(body.bytes().toString('utf8')));
  if (json !== null) return { json };
  const message = 'Cannot read the request: it must be a JSON object';
  return { failed: failure('invalid_request', message, 'request_body') };
}
