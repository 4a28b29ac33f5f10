/**
 * A reply that is passed on as what it is, whatever its header says.
 * Owns the choice between held and streamed, by its first bytes; what follows is theirs.
 */
import { decodedBody, isCoded } from '../clients/gateway/content-coding.ts';
import { joined } from './relay/body-chunks.ts';
import { CodedStream } from './coded-stream.ts';
import type { Failure } from './failure.ts';
import { sendFailure } from './relay/http-exchange.ts';
import { HeldReply } from './relay/held-reply.ts';
import { CODED_HEAD_BYTES_MAX, DECODED_BYTES_MAX } from './limits.ts';
import { formOf } from './reply-form.ts';
import type { Reply, ReplyEnd, ReplyOptions } from './relay/reply.ts';
import { StreamedReply } from './relay/streamed-reply.ts';
import type { Usage } from './spend/usage.ts';

export class RecognisedReply implements Reply {
  private readonly options: ReplyOptions;
  private readonly isCoded: boolean;
  private early: Buffer[] = [];
  private reply: Reply | null = null;

  constructor(options: ReplyOptions) {
    this.options = options;
    this.isCoded = isCoded(options.headers['content-encoding']);
  }

  get isStream(): boolean {
    return this.reply?.isStream ?? false;
  }

  get isRefused(): boolean {
    return this.reply?.isRefused ?? false;
  }

  get isOver(): boolean {
    return this.reply?.isOver ?? false;
  }

  get responseId(): string | null {
    return this.reply?.responseId ?? null;
  }

  get usage(): Usage | null {
    return this.reply?.usage ?? null;
  }

  data(chunk: Buffer): boolean {
    if (this.reply !== null) return this.reply.data(chunk);
    this.early.push(chunk);
    const bytes = joined(this.early);
    const form = this.formOf(bytes);
    if (form === null) return true;
    this.early = [];
    return this.become(form).data(bytes);
  }

  end(): ReplyEnd {
    const { early } = this;
    const reply = this.reply ?? this.become('other');
    if (early.length > 0) reply.data(joined(early));
    return reply.end();
  }

  drop(failed: Failure): boolean {
    if (this.reply !== null) return this.reply.drop(failed);
    sendFailure(this.options.res, failed, this.options);
    return false;
  }

  private formOf(bytes: Buffer): ReturnType<typeof formOf> {
    if (!this.isCoded) return formOf(bytes);
    const coding = this.options.headers['content-encoding'];
    const plain = decodedBody({ bytes, coding, bytesMax: DECODED_BYTES_MAX });
    if (plain === null) return 'other';
    // A coding may give out the first byte late.
    return formOf(plain) ?? (bytes.length > CODED_HEAD_BYTES_MAX ? 'other' : null);
  }

  private become(form: NonNullable<ReturnType<typeof formOf>>): Reply {
    const { options } = this;
    const said = options.headers['content-type'] ?? '';
    const isStream = form === 'events' || (form === 'other' && said.startsWith('text/event-stream'));
    this.reply = !isStream
      ? new HeldReply(options)
      : this.isCoded
        ? new CodedStream(options)
        : new StreamedReply(options);
    return this.reply;
  }
}
