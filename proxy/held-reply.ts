/**
 * A reply that is no stream: held until complete, then passed on as it came.
 * Owns that; must not re-encode a successful reply. Holding it turns a gateway that hangs up midway into a clean 502.
 */
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import { joined } from './body-chunks.ts';
import { sendFailure } from './http-exchange.ts';
import { failure, type Failure } from './failure.ts';
import { relayedError, relayedHeaders, type ReplyHeaders } from './gateway-reply.ts';
import { scanTopLevel, type TopLevel } from './json-scan.ts';
import { asObject, asText, parseJson, type JsonObject } from './json-value.ts';
import { REPLY_HELD_BYTES_MAX } from './limits.ts';
import type { Reply } from './reply.ts';
import { endWithTurn } from './turn-replies.ts';
import { readUsage, type Usage } from './usage.ts';

export interface HeldReplyOptions {
  readonly res: ServerResponse;
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** Of the proxy, name and value alternating. */
  readonly ownHeaders: readonly OutgoingHttpHeader[];
  readonly apiKey: string;
}

const LEARNED: ReadonlySet<string> = new Set(['id', 'usage']);

export class HeldReply implements Reply {
  responseId: string | null = null;
  usage: Usage | null = null;
  readonly isOver = false;
  private readonly options: HeldReplyOptions;
  private readonly chunks: Buffer[] = [];
  private length = 0;

  constructor(options: HeldReplyOptions) {
    this.options = options;
  }

  /** A reply beyond the bound is passed on from here, unread: its row stays without tokens rather than without reply. */
  data(chunk: Buffer): boolean {
    const { res, status, headers, ownHeaders } = this.options;
    this.length += chunk.length;
    if (res.headersSent) return res.write(chunk);
    this.chunks.push(chunk);
    if (this.length <= REPLY_HELD_BYTES_MAX) return true;
    res.writeHead(status, relayedHeaders(headers, ownHeaders));
    return res.write(joined(this.chunks.splice(0)));
  }

  end(): boolean {
    const { res, status, headers, ownHeaders } = this.options;
    if (res.headersSent) {
      res.end();
      return status < 300;
    }
    const body = joined(this.chunks);
    if (status >= 400) this.endWithError(body);
    else if (status >= 300) this.refuseRedirect();
    else {
      this.learn(body);
      const own = relayedHeaders(headers, ownHeaders);
      own.push('content-length', body.length);
      res.writeHead(status, own);
      endWithTurn(res, body);
    }
    return status < 300;
  }

  drop(failed: Failure): boolean {
    const { res } = this.options;
    if (res.headersSent) res.destroy();
    else sendFailure(res, failed, this.options.ownHeaders);
    return false;
  }

  /** Only two members matter, so that only they are parsed, where the body is plain. */
  private learn(body: Buffer): void {
    const top = scanTopLevel([body], LEARNED);
    const json = top === null ? asObject(parseJson(body.toString('utf8'))) : membersOf(body, top);
    this.responseId = asText(json?.['id']);
    this.usage = readUsage(json?.['usage']);
  }

  private endWithError(body: Buffer): void {
    const { res, status, headers, ownHeaders, apiKey } = this.options;
    this.learn(body);
    const error = relayedError(body, { status, apiKey });
    const own = relayedHeaders(headers, ownHeaders, 'content-type');
    own.push('content-type', 'application/json', 'content-length', error.length);
    res.writeHead(status, own);
    res.end(error);
  }

  /** Following it would send the key to an address nobody configured. */
  private refuseRedirect(): void {
    const { res, status, ownHeaders } = this.options;
    const message = `Cannot use the gateway's reply: it answered ${status}, a redirect`;
    sendFailure(res, failure('gateway_failed', message), ownHeaders);
  }
}

function membersOf(body: Buffer, { members }: TopLevel): JsonObject {
  const json: Record<string, unknown> = {};
  for (const [key, { valueStart, valueEnd }] of members)
    json[key] = parseJson(body.toString('utf8', valueStart, valueEnd));
  return json;
}
