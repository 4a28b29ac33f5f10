/**
 * What the proxy learns from a stream while it passes, and what it withholds.
 * Owns id, usage and error of the stream; must not change a frame it lets through.
 */
import { asObject, asText, type JsonObject } from './json-value.ts';
import type { RelayKind } from './relay-kind.ts';
import { cutFrames, FrameSplitter, frameData, frameJson } from './sse-frames.ts';
import { readUsage, type Usage } from './usage.ts';

const USAGE_KEY = Buffer.from('"usage"');
const ERROR_KEY = Buffer.from('"error"');
const DONE = '[DONE]';
const DONE_BYTES = Buffer.from(DONE);
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
  /** The last events as they stand in a frame; one that only quotes them is parsed in vain. */
  private readonly lastMarks: readonly Buffer[];
  private framesWithoutId = 0;

  constructor(options: { readonly isUsageShown: boolean; readonly kind: Pick<RelayKind, 'lastEvents'> }) {
    this.isUsageShown = options.isUsageShown;
    this.lastEvents = options.kind.lastEvents;
    this.lastMarks = [...(this.lastEvents ?? [])].map((name) => Buffer.from(`"${name}"`));
  }

  /** The frames to relay, each whole; several in one piece where nothing in them is of interest. */
  push(chunk: Buffer): readonly Buffer[] {
    const whole = this.splitter.push(chunk);
    if (whole.length === 0) return [];
    if (this.isPlain(whole)) return [whole];
    return cutFrames(whole).filter((frame) => this.lets(frame));
  }

  /** Most of a stream is content that the proxy has no business with: it is not even cut. */
  private isPlain(bytes: Buffer): boolean {
    const isIdSettled = this.responseId !== null || this.framesWithoutId >= FRAMES_WITHOUT_ID_MAX;
    if (!isIdSettled || bytes.includes(DONE_BYTES)) return false;
    if (hasValue(bytes, USAGE_KEY) || hasValue(bytes, ERROR_KEY)) return false;
    return !this.lastMarks.some((mark) => bytes.includes(mark));
  }

  /** The last frame to relay when the gateway ended without a blank line; empty when there is none. */
  flush(): Buffer {
    const rest = this.splitter.flush();
    return this.lets(rest) ? rest : Buffer.alloc(0);
  }

  private lets(frame: Buffer): boolean {
    if (frame.includes(DONE_BYTES) && frameData(frame) === DONE) this.isDone = true;
    const hasUsage = hasValue(frame, USAGE_KEY);
    const wantsId = this.responseId === null && this.framesWithoutId < FRAMES_WITHOUT_ID_MAX;
    const isLast = this.lastMarks.some((mark) => frame.includes(mark));
    if (!hasUsage && !wantsId && !isLast && !hasValue(frame, ERROR_KEY)) return true;
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
    this.usage = usage;
    return this.isUsageShown || !isUsageOnly(json);
  }
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

/** Whether the key stands in the frame with a value other than null. A key inside a text is escaped and not found. */
function hasValue(frame: Buffer, key: Buffer): boolean {
  for (let at = frame.indexOf(key); at >= 0; at = frame.indexOf(key, at + key.length)) {
    let i = at + key.length;
    while (frame[i] === 0x20 || frame[i] === 0x3a) i += 1;
    if (frame[i] !== 0x6e) return true;
  }
  return false;
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
