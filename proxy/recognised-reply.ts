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

/**
 * What a reply is, by its first bytes: some gateways send JSON as a stream of events, and events as JSON.
 * Owns that look alone; must not read further.
 */

/** `page` is markup; `other` is what nothing can be said of. */
type ReplyForm = 'events' | 'json' | 'page' | 'other';

/** Of the first bytes, so many say what it is. */
const FORM_BYTES_MAX = 64;

const FIELDS = ['data', 'event', 'id', 'retry'].map((name) => `${name}:`);
const COLON = 0x3a;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;
const LESS_THAN = 0x3c;

/** Null while the bytes may still become either. */
function formOf(head: Buffer): ReplyForm | null {
  const start = firstByte(head);
  switch (head[start]) {
    case undefined:
      return head.length < FORM_BYTES_MAX ? null : 'other';
    case OPEN_BRACE:
    case OPEN_BRACKET:
      return 'json';
    case LESS_THAN:
      return 'page';
    // A comment, which keeps a connection alive.
    case COLON:
      return 'events';
    default:
      return formOfWord(head.toString('latin1', start, start + FIELDS_LENGTH_MAX));
  }
}

const FIELDS_LENGTH_MAX = Math.max(...FIELDS.map((field) => field.length));

function formOfWord(word: string): ReplyForm | null {
  if (FIELDS.some((field) => word.startsWith(field))) return 'events';
  return FIELDS.some((field) => field.startsWith(word)) ? null : 'other';
}

const BYTE_ORDER_MARK = [0xef, 0xbb, 0xbf];

/** The first that is neither a space nor a byte order mark. */
function firstByte(bytes: Buffer): number {
  let at = BYTE_ORDER_MARK.every((byte, i) => bytes[i] === byte) ? BYTE_ORDER_MARK.length : 0;
  for (; at < bytes.length; at += 1) {
    const byte = bytes[at] ?? 0;
    if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) break;
  }
  return at;
}
