/**
 * A streamed reply, passed on frame by frame as it comes.
 * Owns when the reply to the caller begins and how it ends; must not re-encode a frame.
 */
import { joined } from './body-chunks.ts';
import { envelope, type Failure } from '../failure.ts';
import { cutFailure, relayedHeaders } from './gateway-reply.ts';
import { sendFailure } from './http-exchange.ts';
import { COMMENTS_HELD_BYTES_MAX } from '../limits.ts';
import { refuse } from '../refusal.ts';
import type { RelayKind } from './relay-kind.ts';
import type { Reply, ReplyEnd, ReplyOptions } from './reply.ts';
import { frameData } from './sse-frames.ts';
import { StreamWatch } from './stream-watch.ts';
import type { Usage } from '../spend/usage.ts';

export class StreamedReply implements Reply {
  readonly isStream = true;
  /** The stream began with an error, which became a plain reply with its status. */
  isRefused = false;
  private readonly options: ReplyOptions;
  private readonly watch: StreamWatch;
  /** Comments before the first frame with data. */
  private held: Buffer[] = [];

  constructor(options: ReplyOptions) {
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

  end(): ReplyEnd {
    const rest = this.watch.flush();
    this.relay(rest.length === 0 ? [] : [rest]);
    if (this.isRefused) return 'failed';
    if (this.watch.error === null && !this.watch.isWhole) return this.endCut(rest.length > 0);
    beginStream(this.options);
    this.options.res.end();
    return this.watch.error === null ? 'succeeded' : 'failed';
  }

  /** After `[DONE]` nothing is missing. Before it the caller gets one error frame, and no `[DONE]`. */
  drop(failed: Failure): boolean {
    const { res, kind } = this.options;
    const isComplete = this.watch.isDone && this.watch.error === null;
    if (this.isRefused) return false;
    if (!res.headersSent) {
      sendFailure(res, failed, this.options);
      return false;
    }
    res.end(isComplete || this.watch.error !== null ? undefined : errorFrame(kind, failed));
    return isComplete;
  }

  private endCut(isInFrame: boolean): ReplyEnd {
    const { res, kind, modelName, handOver } = this.options;
    const failed = cutFailure(modelName);
    if (res.headersSent) res.end(`${isInFrame ? '\n\n' : ''}${errorFrame(kind, failed)}`);
    else if (!handOver(null)) sendFailure(res, failed, this.options);
    return 'cut';
  }

  /** Nothing is sent before the first frame with data, so that an error there still has its status. */
  private relay(frames: readonly Buffer[]): boolean {
    const { res } = this.options;
    if (this.isRefused) return true;
    if (!res.headersSent && this.watch.error !== null) {
      this.isRefused = true;
      refuse(this.options, this.watch.error);
      return true;
    }
    if (frames.length === 0) return true;
    if (res.headersSent) return res.write(joined(frames));
    this.held.push(...frames);
    if (!this.mayBegin(frames)) return true;
    beginStream(this.options);
    return res.write(joined(this.held.splice(0)));
  }

  private mayBegin(frames: readonly Buffer[]): boolean {
    if (frames.some((frame) => frameData(frame) !== null)) return true;
    return this.held.reduce((sum, frame) => sum + frame.length, 0) > COMMENTS_HELD_BYTES_MAX;
  }
}

/** One frame in the format of the route, so that its clients report the failure. */
function errorFrame(kind: RelayKind, failed: Failure): string {
  if (kind.lastEvents === null) return `data: ${envelope(failed)}\n\n`;
  if (kind.words === 'anthropic') return `event: error\ndata: ${envelope(failed, kind.words)}\n\n`;
  const { code, message, param } = failed;
  return `event: error\ndata: ${JSON.stringify({ type: 'error', code, message, param })}\n\n`;
}

const EVENTS = 'text/event-stream';

export function beginStream({ res, headers, ownHeaders }: ReplyOptions): void {
  if (res.headersSent) return;
  const said = headers['content-type'] ?? '';
  const contentType = said.startsWith(EVENTS) ? said : EVENTS;
  const own = relayedHeaders(headers, ownHeaders, { contentType, isCoded: true });
  // Intermediaries must neither store nor buffer a stream.
  own.push('cache-control', 'no-cache', 'x-accel-buffering', 'no');
  res.writeHead(200, own);
}
