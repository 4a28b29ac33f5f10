/**
 * One JSON POST to an HTTP endpoint, over TCP or a unix socket bound into the sandbox (D19).
 * Owns addresses, deadlines and size bounds of the call. Never retries; never follows a redirect.
 */
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { StringDecoder } from 'node:string_decoder';
import { brotliDecompressSync, gunzipSync, inflateSync } from 'node:zlib';

/** Idle connections kept per endpoint; a sandbox has few conversations at work at a time. */
const KEPT_SOCKETS_MAX = 8;
/** Of an answer; balancers and content policies make them longer than Node's 16 KiB. */
const HEADER_BYTES_MAX = 256 * 1024;
const httpAgent = new HttpAgent({ keepAlive: true, maxFreeSockets: KEPT_SOCKETS_MAX });
const httpsAgent = new HttpsAgent({ keepAlive: true, maxFreeSockets: KEPT_SOCKETS_MAX });

export interface PostOptions {
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
  /** From the first byte sent to the last byte read. */
  readonly timeoutMs: number;
  readonly responseBytesMax: number;
  /** Receives the text of an event stream as it comes, if the answer is one, was accepted and is not compressed. */
  readonly onEventText?: (text: string) => void;
  readonly signal?: AbortSignal;
}

export interface PostAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Target {
  readonly secure: boolean;
  readonly options: Readonly<Record<string, string | number>>;
}

/**
 * The answer, whatever its status.
 *
 * @throws the system's error with its `code`; ETIMEDOUT past the deadline, EMSGSIZE above the size bound, and an
 *   AbortError when the signal fires
 */
export async function postJson(url: string, options: PostOptions): Promise<PostAnswer> {
  const target = targetOf(url);
  const deadline = AbortSignal.timeout(options.timeoutMs);
  const signal = options.signal === undefined ? deadline : AbortSignal.any([options.signal, deadline]);
  const body = Buffer.from(options.body, 'utf8');
  try {
    return await new Promise<PostAnswer>((resolve, reject) => {
      const send = target.secure ? httpsRequest : httpRequest;
      const outgoing = send({
        ...target.options,
        method: 'POST',
        agent: target.secure ? httpsAgent : httpAgent,
        signal,
        maxHeaderSize: HEADER_BYTES_MAX,
        headers: {
          'accept-encoding': 'identity',
          ...options.headers,
          'content-type': 'application/json',
          'content-length': body.length,
        },
      });
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        readAnswer(incoming, options).then(resolve, reject);
      });
      outgoing.end(body);
    });
  } catch (error) {
    if (deadline.aborted && options.signal?.aborted !== true) {
      throw codedError('ETIMEDOUT', `no complete answer within ${options.timeoutMs} ms`);
    }
    throw error;
  }
}

/** Request options for `http://…`, `https://…` or `unix:/path/to.sock:/path`. */
function targetOf(url: string): Target {
  const unix = /^unix:([^:]+):(.*)$/.exec(url);
  if (unix !== null) {
    return { secure: false, options: { socketPath: unix[1] ?? '', path: unix[2] ?? '/', host: 'localhost' } };
  }
  const parsed = new URL(url);
  const secure = parsed.protocol === 'https:';
  const port = parsed.port === '' ? (secure ? 443 : 80) : Number(parsed.port);
  const hostname = parsed.hostname.replace(/^\[|\]$/g, '');
  return { secure, options: { hostname, port, path: `${parsed.pathname}${parsed.search}` } };
}

async function readAnswer(
  incoming: IncomingMessage,
  { responseBytesMax: bytesMax, onEventText }: PostOptions,
): Promise<PostAnswer> {
  const chunks: Buffer[] = [];
  const decoder = onEventText !== undefined && isEventStream(incoming) ? new StringDecoder('utf8') : null;
  let size = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > bytesMax) {
      incoming.destroy();
      throw codedError('EMSGSIZE', `the answer is larger than ${bytesMax} bytes`);
    }
    chunks.push(chunk);
    if (decoder !== null) onEventText?.(decoder.write(chunk));
  }
  const bytes = decoded(Buffer.concat(chunks), incoming.headers['content-encoding'] ?? '', bytesMax);
  const text = bytes.toString('utf8');
  return { status: incoming.statusCode ?? 0, headers: incoming.headers, text };
}

function isEventStream({ statusCode = 0, headers }: IncomingMessage): boolean {
  const coding = (headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  const isStream = /^text\/event-stream\b/i.test(headers['content-type'] ?? '');
  return statusCode >= 200 && statusCode < 300 && isStream && coding === 'identity';
}

/** Some gateways compress unasked; what cannot be decoded is left as it is, without meaning. */
function decoded(bytes: Buffer, coding: string, bytesMax: number): Buffer {
  const bound = { maxOutputLength: bytesMax };
  try {
    switch (coding.trim().toLowerCase()) {
      case 'gzip':
      case 'x-gzip':
        return gunzipSync(bytes, bound);
      case 'br':
        return brotliDecompressSync(bytes, bound);
      case 'deflate':
        return inflateSync(bytes, bound);
      default:
        return bytes;
    }
  } catch {
    return bytes;
  }
}

function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

/** The `code` of a system error, or an empty text. */
export function errorCode(thrown: unknown): string {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : '';
  return typeof code === 'string' ? code : '';
}
