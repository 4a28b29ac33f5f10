/**
 * What the proxy learns from a stream while it passes, and what it withholds.
 * Owns id, usage and error of the stream; must not change a frame it lets through.
 */
import { asObject, asText, type JsonObject } from './json-value.ts';
import type { RelayKind } from './relay-kind.ts';
import { cutFrames, firstFrame, FrameSplitter, frameData, frameJson, lastFrameEnd } from './sse-frames.ts';
import { joinUsage, readUsage, type Usage } from './usage.ts';

/**
 * A text of JSON, cut where the native search is quick: it goes from one first byte to the next, and a quote, a bracket
 * or an `e` stands in every line.
 */
interface Mark {
  readonly before: Buffer;
  readonly searched: Buffer;
}

const USAGE_KEY: Mark = { before: Buffer.from('"usa'), searched: Buffer.from('ge"') };
const ERROR_KEY: Mark = { before: Buffer.from('"e'), searched: Buffer.from('rror"') };
const DONE = '[DONE]';
/** What only quotes the end is looked at in vain. */
const DONE_BYTES = Buffer.from('DONE]');
const NO_FRAMES: readonly Buffer[] = [];
/** Frames parsed in search of the id: it stands in the first ones or in none. */
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
  /** How the last events end in a frame; one that only quotes them is parsed in vain. */
  private readonly lastMarks: readonly Buffer[];
  private framesWithoutId = 0;

  constructor(options: { readonly isUsageShown: boolean; readonly kind: Pick<RelayKind, 'lastEvents'> }) {
    this.isUsageShown = options.isUsageShown;
    this.lastEvents = options.kind.lastEvents;
    this.lastMarks = lastMarksOf(options.kind);
  }

  /** The frames to relay, each whole; several in one piece where nothing in them is of interest. */
  push(chunk: Buffer): readonly Buffer[] {
    const whole = this.splitter.push(chunk);
    if (whole.length === 0) return NO_FRAMES;
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

  /** Most of a stream is content that the proxy has no business with: up to here, which is after a frame, it is not cut. */
  private plainEnd(bytes: Buffer): number {
    const first = this.firstMark(bytes);
    return first < 0 ? bytes.length : lastFrameEnd(bytes.subarray(0, first));
  }

  /** Where something of interest stands first; -1 where nothing does. */
  private firstMark(bytes: Buffer): number {
    let first = earlier(valueAt(bytes, USAGE_KEY), valueAt(bytes, ERROR_KEY));
    first = earlier(first, bytes.indexOf(DONE_BYTES));
    for (const mark of this.lastMarks) first = earlier(first, bytes.indexOf(mark));
    return first;
  }

  /** The last frame to relay when the gateway ended without a blank line; empty when there is none. */
  flush(): Buffer {
    const rest = this.splitter.flush();
    return this.lets(rest) ? rest : Buffer.alloc(0);
  }

  private lets(frame: Buffer): boolean {
    if (frame.includes(DONE_BYTES) && frameData(frame) === DONE) this.isDone = true;
    const hasUsage = valueAt(frame, USAGE_KEY) >= 0;
    const wantsId = this.responseId === null && this.framesWithoutId < FRAMES_WITHOUT_ID_MAX;
    const isLast = this.lastMarks.some((mark) => frame.includes(mark));
    if (!hasUsage && !wantsId && !isLast && valueAt(frame, ERROR_KEY) < 0) return true;
    const json = asObject(frameJson(frame));
    if (json === null) return true;
    const response = asObject(json['response']);
    this.responseId ??= asText(json['id']) ?? asText(response?.['id']);
    if (this.responseId === null) this.framesWithoutId += 1;
    this.error ??= errorOf(json);
    const type = asText(json['type']);
    if (type !== null && this.lastEvents?.has(type) === true) this.isDone = true;
    const usage = readUsage(json['usage'] ?? response?.['usage']);
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

/** From the dot on, which text seldom has, so that the search is quick. */
function lastWord(event: string): string {
  return event.slice(Math.max(0, event.lastIndexOf('.')));
}

/** The error that a frame reports, under `error` as chat has it; null when it reports none. */
function errorOf(json: JsonObject): JsonObject | null {
  if ((json['error'] ?? null) !== null) return json;
  const inner = asObject(asObject(json['response'])?.['error']);
  if (inner !== null) return { error: inner };
  if (json['type'] !== 'error') return null;
  const { message = null, code = null, param = null } = json;
  return { error: { message, type: 'server_error', param, code } };
}

/** Where the key stands with a value other than null; -1 where it does not. One inside a text is escaped and not found. */
function valueAt(bytes: Buffer, { before, searched }: Mark): number {
  for (let at = bytes.indexOf(searched); at >= 0; at = bytes.indexOf(searched, at + searched.length)) {
    const start = at - before.length;
    if (start < 0 || before.compare(bytes, start, at) !== 0) continue;
    let i = at + searched.length;
    while (bytes[i] === 0x20 || bytes[i] === 0x3a) i += 1;
    if (bytes[i] !== 0x6e) return start;
  }
  return -1;
}

/** A frame that carries nothing but usage: no choice, or only choices with an empty delta (some gateways send those). */
function isUsageOnly(frame: JsonObject): boolean {
  const choices = frame['choices'];
  return Array.isArray(choices) && choices.every((choice) => isEmptyChoice(asObject(choice)));
}

function isEmptyChoice(choice: JsonObject | null): boolean {
  if (choice === null || (choice['finish_reason'] ?? null) !== null) return false;
  const delta = asObject(choice['delta']);
  return delta !== null && Object.values(delta).every((value) => value === null);
}
