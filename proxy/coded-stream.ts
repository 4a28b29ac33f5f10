/**
 * A streamed reply that the gateway coded: passed on as it came, and decoded for what is learned from it.
 * Owns that; withholds nothing, because that would take coding it anew.
 */
import { decodedBody } from '../clients/gateway/content-coding.ts';
import { joined } from './relay/body-chunks.ts';
import type { Failure } from './failure.ts';
import { cutFailure } from './relay/gateway-reply.ts';
import { breakOff, sendFailure } from './relay/http-exchange.ts';
import { CODED_HEAD_BYTES_MAX, DECODED_BYTES_MAX } from './limits.ts';
import { refuse } from './refusal.ts';
import type { Reply, ReplyEnd, ReplyOptions } from './relay/reply.ts';
import { StreamWatch } from './relay/stream-watch.ts';
import { beginStream } from './relay/streamed-reply.ts';
import type { Usage } from './spend/usage.ts';

/** What is learned of the bytes so far; nothing where they cannot be read. */
interface Decoded {
  readonly watch: StreamWatch;
  readonly hasFrames: boolean;
  readonly isRead: boolean;
}

export class CodedStream implements Reply {
  readonly isStream = true;
  isRefused = false;
  private readonly options: ReplyOptions;
  /** All of it, because a coding is read from its start; empty once it is too long to be kept. */
  private chunks: Buffer[] = [];
  private length = 0;
  private last: Decoded | null = null;

  constructor(options: ReplyOptions) {
    this.options = options;
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

  /** Nothing is sent before the first frame, so that an error there still has its status. */
  data(chunk: Buffer): boolean {
    const { res } = this.options;
    if (this.isRefused) return true;
    this.keep(chunk);
    if (res.headersSent) return res.write(chunk);
    const { watch, hasFrames, isRead } = this.decoded();
    if (watch.error !== null) {
      this.isRefused = true;
      refuse(this.options, watch.error);
      return true;
    }
    if (isRead && !hasFrames && this.length <= CODED_HEAD_BYTES_MAX) return true;
    beginStream(this.options);
    return res.write(joined(this.chunks));
  }

  end(): ReplyEnd {
    const { res, handOver, modelName } = this.options;
    if (this.isRefused) return 'failed';
    const { watch, isRead } = this.decoded();
    if (watch.error !== null && !res.headersSent) {
      this.isRefused = true;
      refuse(this.options, watch.error);
      return 'failed';
    }
    const isCut = watch.error === null && !watch.isWhole && isRead;
    if (isCut && res.headersSent) breakOff(res);
    else if (isCut) {
      if (!handOver(null)) sendFailure(res, cutFailure(modelName), this.options);
    } else {
      if (!res.headersSent) {
        beginStream(this.options);
        res.write(joined(this.chunks));
      }
      res.end();
    }
    return isCut ? 'cut' : watch.error === null ? 'succeeded' : 'failed';
  }

  /** No frame can be put behind what is coded: a caller that has a part sees the connection break off. */
  drop(failed: Failure): boolean {
    const { res } = this.options;
    if (this.isRefused) return false;
    const isComplete = this.watch.isDone && this.watch.error === null;
    if (!res.headersSent) sendFailure(res, failed, this.options);
    else if (isComplete) res.end();
    else breakOff(res);
    return isComplete && res.headersSent;
  }

  private keep(chunk: Buffer): void {
    this.length += chunk.length;
    this.last = null;
    if (this.length <= DECODED_BYTES_MAX) this.chunks.push(chunk);
    else this.chunks = [];
  }

  private get watch(): StreamWatch {
    return this.decoded().watch;
  }

  private decoded(): Decoded {
    this.last ??= this.decode();
    return this.last;
  }

  private decode(): Decoded {
    const watch = new StreamWatch(this.options);
    if (this.length > DECODED_BYTES_MAX) return { watch, hasFrames: false, isRead: false };
    const coding = this.options.headers['content-encoding'];
    const bytes = decodedBody({ bytes: joined(this.chunks), coding, bytesMax: DECODED_BYTES_MAX });
    if (bytes === null) return { watch, hasFrames: false, isRead: false };
    const frames = watch.push(bytes);
    watch.flush();
    return { watch, hasFrames: frames.length > 0, isRead: true };
  }
}
