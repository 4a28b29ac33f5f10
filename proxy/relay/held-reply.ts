/**
 * A reply that is no stream: held until complete, then passed on unchanged.
 * Owns that; must not re-encode a successful reply. Holding it turns a gateway that hangs up midway into a clean 502.
 */
import { parsedJson } from '../../core/text/parsed-json.ts';
import { decodedBody, isCoded } from '../../clients/gateway/content-coding.ts';
import { joined } from './body-chunks.ts';
import { failure, type Failure } from '../failure.ts';
import { cutFailure, noAnswerFailure, relayedError, relayedHeaders } from './gateway-reply.ts';
import { breakOff, sendFailure } from './http-exchange.ts';
import { errorOf } from '../in-band-error.ts';
import { scanTopLevel, type TopLevel } from './json-scan.ts';
import { asObject, asText, type JsonObject } from './json-value.ts';
import { DECODED_BYTES_MAX, REPLY_HELD_BYTES_MAX } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { Reply, ReplyEnd, ReplyOptions } from './reply.ts';
import { mentionsError } from './stream-watch.ts';
import { endWithTurn } from './turn-replies.ts';
import { usageOf, type Usage } from '../spend/usage.ts';

const LEARNED: ReadonlySet<string> = new Set(['id', 'usage']);
const JSON_TYPE = 'application/json';

export class HeldReply implements Reply {
  responseId: string | null = null;
  usage: Usage | null = null;
  isRefused = false;
  readonly isOver = false;
  readonly isStream = false;
  private readonly options: ReplyOptions;
  private readonly chunks: Buffer[] = [];
  private length = 0;
  private lastByte = -1;

  constructor(options: ReplyOptions) {
    this.options = options;
  }

  /** A reply beyond the bound is passed on from here, unread: its row has no tokens, but the caller has its reply. */
  data(chunk: Buffer): boolean {
    const { res, status, headers, ownHeaders } = this.options;
    this.length += chunk.length;
    if (res.headersSent) this.keepLast(chunk);
    if (res.headersSent) return res.write(chunk);
    this.chunks.push(chunk);
    if (this.length <= REPLY_HELD_BYTES_MAX) return true;
    res.writeHead(status, relayedHeaders(headers, ownHeaders));
    const held = joined(this.chunks.splice(0));
    this.keepLast(held);
    return res.write(held);
  }

  end(): ReplyEnd {
    const { res, status, headers } = this.options;
    if (res.headersSent) return this.endUnread();
    const body = joined(this.chunks);
    const coding = headers['content-encoding'];
    const plain = isCoded(coding) ? decodedBody({ bytes: body, coding, bytesMax: DECODED_BYTES_MAX }) : body;
    if (status < 300) return this.endWithAnswer(body, plain);
    if (status >= 400) this.endWithError(body, plain);
    else this.refuseRedirect();
    return 'failed';
  }

  drop(failed: Failure): boolean {
    const { res } = this.options;
    if (res.headersSent) breakOff(res);
    else sendFailure(res, failed, this.options);
    return false;
  }

  private keepLast(bytes: Buffer): void {
    for (let i = bytes.length - 1; i >= 0; i -= 1) {
      const byte = bytes[i] ?? 0;
      if (byte <= SPACE) continue;
      this.lastByte = byte;
      return;
    }
  }

  private endUnread(): ReplyEnd {
    const { res, status, headers } = this.options;
    const isWhole = this.lastByte === CLOSE_BRACE || isCoded(headers['content-encoding']);
    if (isWhole) res.end();
    else breakOff(res);
    if (status >= 300) return 'failed';
    return isWhole ? 'succeeded' : 'cut';
  }

  private endWithAnswer(body: Buffer, plain: Buffer | null): ReplyEnd {
    // In a coding that the proxy cannot read: the caller may.
    const json = plain === null ? null : this.learn(plain);
    if (json === undefined) return this.endWithoutAnswer(plain ?? body);
    const whole = json !== null && plain !== null && mentionsError(plain) ? wholeOf(plain) : null;
    const error = whole === null ? null : errorOf(whole);
    // A failed response that reports its own failure is already in the form of its route.
    if (error === null || whole?.['object'] === 'response') {
      this.relay(body);
      return error === null ? 'succeeded' : 'failed';
    }
    this.isRefused = true;
    refuse(this.options, error);
    return 'failed';
  }

  /** JSON that began and did not end was cut off; text that is no JSON is no answer. */
  private endWithoutAnswer(plain: Buffer): ReplyEnd {
    const { res, handOver, modelName, apiKey } = this.options;
    const text = plain.toString('utf8', 0, HEAD_BYTES).trimStart();
    const isCut = text === '' || text.startsWith('{') || text.startsWith('[');
    const failed = isCut ? cutFailure(modelName) : noAnswerFailure(plain, { modelName, apiKey });
    if (!handOver(isCut ? null : failed.status)) sendFailure(res, failed, this.options);
    return isCut ? 'cut' : 'failed';
  }

  private relay(body: Buffer): void {
    const { res, status, headers, ownHeaders } = this.options;
    const said = headers['content-type'];
    const isSaid = said === undefined || !said.startsWith('text/event-stream');
    const own = isSaid
      ? relayedHeaders(headers, ownHeaders)
      : relayedHeaders(headers, ownHeaders, { contentType: JSON_TYPE, isCoded: true });
    own.push('content-length', body.length);
    res.writeHead(status, own);
    endWithTurn(res, body);
  }

  /** Only two members matter, so that only they are parsed, where the body is plain; undefined when it is no JSON. */
  private learn(body: Buffer): JsonObject | null | undefined {
    const top = scanTopLevel([body], LEARNED);
    const value = top === null ? parsedJson(textOf(body)) : membersOf(body, top);
    const json = asObject(Array.isArray(value) ? value[0] : value);
    this.responseId = asText(json?.['id']);
    this.usage = usageOf(json ?? {}) ?? usageBelow(body);
    return value === undefined ? undefined : json;
  }

  private endWithError(body: Buffer, plain: Buffer | null): void {
    const { res, kind, status, headers, ownHeaders, apiKey } = this.options;
    if (plain !== null) this.learn(plain);
    const read = plain ?? Buffer.from(unreadText(headers['content-encoding']));
    const error = relayedError(read, { status, apiKey, words: kind.words });
    // The gateway's own bytes are passed on unchanged.
    const isAsItCame = error === plain;
    const sent = isAsItCame ? body : error;
    const own = relayedHeaders(headers, ownHeaders, { contentType: JSON_TYPE, isCoded: isAsItCame });
    own.push('content-length', sent.length);
    res.writeHead(status, own);
    res.end(sent);
  }

  /** Following it would send the key to an address that the operator did not configure. */
  private refuseRedirect(): void {
    const { res, status } = this.options;
    const message = `Cannot use the gateway's reply: it answered ${status}, a redirect`;
    sendFailure(res, failure('gateway_failed', message), this.options);
  }
}

const SPACE = 0x20;
const CLOSE_BRACE = 0x7d;
const HEAD_BYTES = 256;

function unreadText(coding: string | undefined): string {
  return `The gateway's error cannot be read: its content-encoding is "${coding ?? ''}"`;
}

/** Some gateways send a list of one error. */
function wholeOf(plain: Buffer): JsonObject | null {
  const value = parsedJson(textOf(plain));
  return asObject(Array.isArray(value) ? value[0] : value);
}

function textOf(body: Buffer): string {
  const text = body.toString('utf8');
  return text.startsWith('\uFEFF') ? text.slice(1) : text;
}

function membersOf(body: Buffer, { members }: TopLevel): JsonObject {
  const json: Record<string, unknown> = {};
  for (const [key, { valueStart, valueEnd }] of members)
    json[key] = parsedJson(body.toString('utf8', valueStart, valueEnd));
  return json;
}

/** Some vendors put it in each choice: only then the whole body is parsed for it. */
function usageBelow(body: Buffer): Usage | null {
  return body.includes('"usage"') ? usageOf(asObject(parsedJson(textOf(body))) ?? {}) : null;
}
