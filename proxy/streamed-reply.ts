/**
 * A streamed reply, passed on frame by frame as it comes.
 * Owns when the reply to the caller begins and how it ends; must not re-encode a frame.
 */
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import { envelope, type Failure } from './failure.ts';
import { relayedError, relayedHeaders, statusOfErrorFrame, type ReplyHeaders } from './gateway-reply.ts';
import { joined } from './body-chunks.ts';
import { sendFailure } from './http-exchange.ts';
import type { JsonObject } from './json-value.ts';
import type { RelayKind } from './relay-kind.ts';
import type { Reply } from './reply.ts';
import { StreamWatch } from './stream-watch.ts';
import type { Usage } from './usage.ts';

export interface StreamedReplyOptions {
  readonly res: ServerResponse;
  readonly headers: ReplyHeaders;
  /** Of the proxy, name and value alternating. */
  readonly ownHeaders: readonly OutgoingHttpHeader[];
  readonly apiKey: string;
  /** Whether the caller asked for the usage frame itself. */
  readonly isUsageShown: boolean;
  readonly kind: RelayKind;
  /** Whether another try follows a stream that began with an error of this status. */
  readonly handOver: (status: number) => boolean;
}

export class StreamedReply implements Reply {
  private readonly options: StreamedReplyOptions;
  private readonly watch: StreamWatch;
  /** The stream began with an error, which became a plain reply with its status. */
  private isRefused = false;

  constructor(options: StreamedReplyOptions) {
    this.options = options;
    this.watch = new StreamWatch(options);
  }

  get isOver(): boolean {
    return this.isRefused;
  }

  get responseId(): string | null {
    return this.watch.responseId;
  }

  get usage(): Usage | null {
    return this.watch.usage;
  }

  data(chunk: Buffer): boolean {
    return this.relay(this.watch.push(chunk));
  }

  end(): boolean {
    const rest = this.watch.flush();
    this.relay(rest.length === 0 ? [] : [rest]);
    if (!this.isRefused) {
      this.begin();
      this.options.res.end();
    }
    return this.watch.error === null;
  }

  /** After `[DONE]` nothing is missing. Before it the caller is told in one frame, and there is no `[DONE]`. */
  drop(failed: Failure): boolean {
    const { res } = this.options;
    const isComplete = this.watch.isDone && this.watch.error === null;
    if (this.isRefused) return false;
    if (!res.headersSent) {
      sendFailure(res, failed, this.options.ownHeaders);
      return false;
    }
    res.end(isComplete || this.watch.error !== null ? undefined : this.errorFrame(failed));
    return isComplete;
  }

  /** One frame in the words of the route, so that a client of it reports the failure. */
  private errorFrame(failed: Failure): string {
    if (this.options.kind.lastEvents === null) return `data: ${envelope(failed)}\n\n`;
    const { code, message, param } = failed;
    return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param })}\n\n`;
  }

  /** Nothing is sent before the first frame, so that an error there still has its status. */
  private relay(frames: readonly Buffer[]): boolean {
    const { res } = this.options;
    if (this.isRefused) return true;
    if (!res.headersSent && this.watch.error !== null) {
      this.refuse(this.watch.error);
      return true;
    }
    if (frames.length === 0) return true;
    this.begin();
    return res.write(joined(frames));
  }

  private begin(): void {
    const { res, headers, ownHeaders } = this.options;
    if (res.headersSent) return;
    const own = relayedHeaders(headers, ownHeaders);
    // Intermediaries must neither store nor collect a stream.
    own.push('cache-control', 'no-cache', 'x-accel-buffering', 'no');
    res.writeHead(200, own);
  }

  private refuse(frame: JsonObject): void {
    const { res, headers, ownHeaders, apiKey } = this.options;
    this.isRefused = true;
    const status = statusOfErrorFrame(frame);
    if (this.options.handOver(status)) return;
    const body = relayedError(Buffer.from(JSON.stringify(frame)), { status, apiKey });
    const own = relayedHeaders(headers, ownHeaders, 'content-type');
    own.push('content-type', 'application/json', 'content-length', body.length);
    res.writeHead(status, own);
    res.end(body);
  }
}
