/**
 * What the proxy learns from a stream while it passes, and what it withholds.
 * Owns id, usage and error of the stream; must not change a frame it lets through.
 */
import { asObject, asText, type JsonObject } from './json-value.ts';
import { FrameSplitter, frameData, frameJson } from './sse-frames.ts';
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
  /** Whether the closing `[DONE]` has passed. */
  isDone = false;
  private readonly splitter = new FrameSplitter();
  private readonly isUsageShown: boolean;
  private framesWithoutId = 0;

  constructor(options: { readonly isUsageShown: boolean }) {
    this.isUsageShown = options.isUsageShown;
  }

  /** The frames to relay, each whole. */
  push(chunk: Buffer): readonly Buffer[] {
    return this.splitter.push(chunk).filter((frame) => this.lets(frame));
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
    if (!hasUsage && !wantsId && !hasValue(frame, ERROR_KEY)) return true;
    const json = asObject(frameJson(frame));
    if (json === null) return true;
    this.responseId ??= asText(json['id']);
    if (this.responseId === null) this.framesWithoutId += 1;
    if (json['error'] !== undefined && json['error'] !== null) this.error ??= json;
    const usage = readUsage(json['usage']);
    if (usage === null) return true;
    this.usage = usage;
    return this.isUsageShown || !isUsageOnly(json);
  }
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
