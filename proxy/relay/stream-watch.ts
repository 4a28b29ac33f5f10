/**
 * What the proxy learns from a stream while it passes, and what it withholds.
 * Owns id, usage and error of the stream; must not change a frame it lets through.
 */
import { errorOf } from '../in-band-error.ts';
import { asObject, asText, type JsonObject } from './json-value.ts';
import { STREAM_TAIL_BYTES } from '../limits.ts';
import type { RelayKind } from './relay-kind.ts';
import { cutFrames, firstFrame, FrameSplitter, frameData, frameJson, lastFrameEnd } from './sse-frames.ts';
import { joinUsage, usageOf, type Usage } from '../spend/usage.ts';

/**
 * A JSON key, split so that the native search is quick: it stops at every occurrence of the first byte, and a quote, a
 * bracket or an `e` is in every line.
 */
interface Mark {
  readonly before: Buffer;
  readonly searched: Buffer;
}

const USAGE_KEY: Mark = { before: Buffer.from('"usa'), searched: Buffer.from('ge"') };
const ERROR_KEY: Mark = { before: Buffer.from('"e'), searched: Buffer.from('rror"') };
const FINISH_KEY: Mark = { before: Buffer.from('"finish_rea'), searched: Buffer.from('son"') };
const DONE = '[DONE]';
/** A frame that only quotes it is checked without effect. */
const DONE_BYTES = Buffer.from('DONE]');
const NO_FRAMES: readonly Buffer[] = [];
const NOTHING: Buffer = Buffer.alloc(0);
/** Frames parsed in search of the id: it is in the first ones or in none. */
const FRAMES_WITHOUT_ID_MAX = 8;

export class StreamWatch {
  responseId: string | null = null;
  usage: Usage | null = null;
  /** The gateway's own error frame, the whole object around `error`. */
  error: JsonObject | null = null;
  /** Whether what closes the stream has passed: `[DONE]`, or the last event. */
  isDone = false;
  private readonly splitter = new FrameSplitter();
  private readonly isUsageShown: boolean;
  private readonly lastEvents: RelayKind['lastEvents'];
  /** How the last events end in a frame; a frame that only quotes them is parsed without effect. */
  private readonly lastMarks: readonly Buffer[];
  private framesWithoutId = 0;
  /** The last pieces, in which the end mark is searched once the stream has ended. */
  private tail: Buffer[] = [];
  private tailBytes = 0;

  constructor(options: { readonly isUsageShown: boolean; readonly kind: Pick<RelayKind, 'lastEvents'> }) {
    this.isUsageShown = options.isUsageShown;
    this.lastEvents = options.kind.lastEvents;
    this.lastMarks = lastMarksOf(options.kind);
  }

  /** The frames to relay, each whole; several in one piece where nothing in them is of interest. */
  push(chunk: Buffer): readonly Buffer[] {
    const whole = this.splitter.push(chunk);
    if (whole.length === 0) return NO_FRAMES;
    this.keepTail(whole);
    if (this.isIdSettled && this.firstMark(whole) < 0) return [whole];
    const frames: Buffer[] = [];
    let rest = whole;
    while (!this.isIdSettled && rest.length > 0) {
      const frame = firstFrame(rest);
      if (this.lets(frame)) frames.push(frame);
      rest = rest.subarray(frame.length);
    }
    const plainEnd = this.plainEnd(rest);
    if (plainEnd > 0) frames.push(rest.subarray(0, plainEnd));
    for (const frame of cutFrames(rest.subarray(plainEnd))) if (this.lets(frame)) frames.push(frame);
    return frames;
  }

  private get isIdSettled(): boolean {
    return this.responseId !== null || this.framesWithoutId >= FRAMES_WITHOUT_ID_MAX;
  }

  /** Most of a stream is content that the proxy does not need: up to this frame border it is not split. */
  private plainEnd(bytes: Buffer): number {
    const first = this.firstMark(bytes);
    return first < 0 ? bytes.length : lastFrameEnd(bytes.subarray(0, first));
  }

  /** Position of the first mark; -1 where there is none. */
  private firstMark(bytes: Buffer): number {
    let first = earlier(valueAt(bytes, USAGE_KEY), valueAt(bytes, ERROR_KEY));
    first = earlier(first, bytes.indexOf(DONE_BYTES));
    for (const mark of this.lastMarks) first = earlier(first, bytes.indexOf(mark));
    return first;
  }

  /** The last frame to relay when the gateway ended without a blank line; empty when there is none. */
  flush(): Buffer {
    const rest = this.splitter.flush();
    const isLet = this.lets(rest);
    this.keepTail(rest);
    // An incomplete frame is dropped: the caller gets the error frame about the stream's end instead.
    return isLet && (this.isWhole || this.error !== null || isReadable(rest)) ? rest : NOTHING;
  }

  /** Whether the stream that has ended was complete. */
  get isWhole(): boolean {
    return this.isDone || (this.lastEvents === null && this.tail.some(hasFinish));
  }

  /** At least two pieces, because one may be a long frame. */
  private keepTail(piece: Buffer): void {
    const { tail } = this;
    tail.push(piece);
    this.tailBytes += piece.length;
    for (let first = tail[0]; first !== undefined && tail.length > 2; first = tail[0]) {
      if (this.tailBytes - first.length < STREAM_TAIL_BYTES) return;
      this.tailBytes -= first.length;
      tail.shift();
    }
  }

  private lets(frame: Buffer): boolean {
    if (frame.includes(DONE_BYTES) && frameData(frame) === DONE) this.isDone = true;
    const hasUsage = valueAt(frame, USAGE_KEY) >= 0;
    const wantsId = this.responseId === null && this.framesWithoutId < FRAMES_WITHOUT_ID_MAX;
    const isLast = this.lastMarks.some((mark) => frame.includes(mark));
    if (!hasUsage && !wantsId && !isLast && valueAt(frame, ERROR_KEY) < 0) return true;
    const json = asObject(frameJson(frame));
    if (json === null) return true;
    const inner = asObject(json['response']) ?? asObject(json['message']);
    this.responseId ??= asText(json['id']) ?? asText(inner?.['id']);
    if (this.responseId === null) this.framesWithoutId += 1;
    this.error ??= errorOf(json);
    const type = asText(json['type']);
    if (type !== null && this.lastEvents?.has(type) === true) this.isDone = true;
    const usage = usageOf(json);
    if (usage === null) return true;
    this.usage = joinUsage(this.usage, usage);
    return this.isUsageShown || !isUsageOnly(json);
  }
}

function earlier(a: number, b: number): number {
  if (a < 0) return b;
  return b < 0 ? a : Math.min(a, b);
}

const LAST_MARKS = new WeakMap<Pick<RelayKind, 'lastEvents'>, readonly Buffer[]>();

/** Made once for a kind of call. */
function lastMarksOf(kind: Pick<RelayKind, 'lastEvents'>): readonly Buffer[] {
  const known = LAST_MARKS.get(kind);
  if (known !== undefined) return known;
  const marks = [...(kind.lastEvents ?? [])].map((name) => Buffer.from(`${lastWord(name)}"`));
  LAST_MARKS.set(kind, marks);
  return marks;
}

/** From the dot on, which is rare in text, so that the search is quick. */
function lastWord(event: string): string {
  return event.slice(Math.max(0, event.lastIndexOf('.')));
}

/** Position of the key with a value other than null, or -1. A key inside a text is escaped and not found. */
function valueAt(bytes: Buffer, { before, searched }: Mark, from = 0): number {
  for (let at = bytes.indexOf(searched, from); at >= 0; at = bytes.indexOf(searched, at + searched.length)) {
    const start = at - before.length;
    if (start < 0 || before.compare(bytes, start, at) !== 0) continue;
    if (bytes[valueStart(bytes, at + searched.length)] !== 0x6e) return start;
  }
  return -1;
}

function valueStart(bytes: Buffer, from: number): number {
  let i = from;
  while (bytes[i] === 0x20 || bytes[i] === 0x3a) i += 1;
  return i;
}

/** Whether JSON may hold an error anywhere; a quoted one counts as well. */
export function mentionsError(bytes: Buffer): boolean {
  return valueAt(bytes, ERROR_KEY) >= 0;
}

/** Some gateways write an empty text until the end. */
function hasFinish(bytes: Buffer): boolean {
  const { before, searched } = FINISH_KEY;
  for (let at = valueAt(bytes, FINISH_KEY); at >= 0;) {
    const behind = at + before.length + searched.length;
    const start = valueStart(bytes, behind);
    if (bytes[start] === 0x22 && bytes[start + 1] !== 0x22) return true;
    at = valueAt(bytes, FINISH_KEY, behind);
  }
  return false;
}

/** A comment, the end, or data that is JSON. */
function isReadable(frame: Buffer): boolean {
  const data = frameData(frame);
  return data === null || data === DONE || frameJson(frame) !== undefined;
}

/** Members beside the usage of a frame that carry no content. */
const ENVELOPE = new Set([
  ...['id', 'object', 'created', 'model', 'choices', 'usage'],
  ...['system_fingerprint', 'service_tier', 'obfuscation'],
]);
const CHOICE_ENVELOPE = new Set(['index', 'delta', 'logprobs', 'finish_reason']);

/** A frame that carries nothing but usage: no choice, or only choices with an empty delta (some gateways send those). */
function isUsageOnly(frame: JsonObject): boolean {
  const choices = frame['choices'];
  return (
    Array.isArray(choices) &&
    saysNothingBeside(frame, ENVELOPE) &&
    choices.every((choice) => isEmptyChoice(asObject(choice)))
  );
}

function isEmptyChoice(choice: JsonObject | null): boolean {
  if (choice === null || !saysNothingBeside(choice, CHOICE_ENVELOPE)) return false;
  const { finish_reason: finish = null, logprobs = null } = choice;
  const delta = asObject(choice['delta']);
  if (finish !== null || logprobs !== null) return false;
  return delta !== null && Object.values(delta).every((value) => value === null);
}

function saysNothingBeside(json: JsonObject, known: ReadonlySet<string>): boolean {
  return Object.keys(json).every((key) => known.has(key) || json[key] === null);
}
