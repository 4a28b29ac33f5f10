/**
 * The body of a chat completion: what the proxy reads of it and what it changes.
 * Owns the three edits (`model`, `user`, `stream_options`); every other byte goes upstream as it came.
 */
import { asObject, parseJson, type JsonObject } from './json-value.ts';
import { scanTopLevel, type Member, type TopLevel } from './json-scan.ts';
import { USER_LENGTH_MAX } from './limits.ts';

export interface CompletionRequest {
  readonly model: string;
  /** The body field `user`: recorded, never forwarded (D23). */
  readonly user: string | null;
  readonly streamed: boolean;
  /** Whether the caller itself asked for the usage frame of a stream. */
  readonly usageAsked: boolean;
  /** The upstream body in pieces: `model` replaced, `user` gone, usage asked for when streamed. */
  rewrite(upstreamModel: string): readonly Buffer[];
}

export type CompletionReading =
  | { readonly ok: true; readonly request: CompletionRequest }
  | { readonly ok: false; readonly param: string; readonly reason: string };

const WANTED: ReadonlySet<string> = new Set(['model', 'user', 'stream', 'stream_options']);

/** Reads by byte offsets where the body is plain, else by parsing it (duplicate or escaped keys; rare). */
export function readCompletionRequest(body: Buffer): CompletionReading {
  return readBySplicing(body) ?? readByParsing(body);
}

/** null: the body is odd, parse it. Exported for the fuzz test, which compares both ways. */
export function readBySplicing(body: Buffer): CompletionReading | null {
  const top = scanTopLevel(body, WANTED);
  if (top === null) return null;
  const fields: Record<string, unknown> = {};
  for (const [key, member] of top.members) {
    fields[key] = parseJson(body.toString('utf8', member.valueStart, member.valueEnd));
    if (fields[key] === undefined) return null;
  }
  return reading(fields, (upstreamModel) => splice(body, editsOf(top, fields, upstreamModel)));
}

/** Numbers beyond double precision lose digits on this way; plain bodies never take it. */
export function readByParsing(body: Buffer): CompletionReading {
  const fields = asObject(parseJson(body.toString('utf8')));
  if (fields === null) return { ok: false, param: 'request_body', reason: 'it must be a JSON object' };
  return reading(fields, (upstreamModel) => {
    const { user: _recorded, ...rest } = fields;
    const usage = fields['stream'] === true ? { stream_options: withUsage(fields['stream_options']) } : {};
    return [Buffer.from(JSON.stringify({ ...rest, model: upstreamModel, ...usage }))];
  });
}

function reading(fields: JsonObject, rewrite: CompletionRequest['rewrite']): CompletionReading {
  const { model, user, stream, stream_options: options } = fields;
  if (typeof model !== 'string' || model === '') {
    return { ok: false, param: 'model', reason: '"model" must be a text' };
  }
  return {
    ok: true,
    request: {
      model,
      user: typeof user === 'string' ? user.slice(0, USER_LENGTH_MAX) : null,
      streamed: stream === true,
      usageAsked: asObject(options)?.['include_usage'] === true,
      rewrite,
    },
  };
}

/** What is no object is the gateway's to refuse, so it goes on as it is. */
function withUsage(options: unknown): unknown {
  if (options === undefined || options === null) return { include_usage: true };
  const object = asObject(options);
  return object === null ? options : { ...object, include_usage: true };
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

function editsOf(top: TopLevel, fields: JsonObject, upstreamModel: string): readonly Edit[] {
  const edits: Edit[] = [];
  const [model, user, options] = ['model', 'user', 'stream_options'].map((key) => top.members.get(key));
  if (model !== undefined) edits.push(replacement(model, JSON.stringify(upstreamModel)));
  if (user !== undefined) edits.push(removal(user));
  if (fields['stream'] === true) {
    const text = JSON.stringify(withUsage(fields['stream_options']));
    if (options !== undefined) edits.push(replacement(options, text));
    else edits.push({ start: top.start + 1, end: top.start + 1, text: `"stream_options":${text},` });
  }
  // An insertion comes before a removal at the same place.
  return edits.sort((a, b) => a.start - b.start || a.end - b.end);
}

function replacement(member: Member, text: string): Edit {
  return { start: member.valueStart, end: member.valueEnd, text };
}

/** With the comma after it or, for the last member, the one before it. */
function removal(member: Member): Edit {
  if (member.nextKeyStart >= 0) return { start: member.keyStart, end: member.nextKeyStart, text: '' };
  return {
    start: member.commaBefore < 0 ? member.keyStart : member.commaBefore,
    end: member.valueEnd,
    text: '',
  };
}

function splice(body: Buffer, edits: readonly Edit[]): readonly Buffer[] {
  const pieces: Buffer[] = [];
  let at = 0;
  for (const edit of edits) {
    if (edit.start > at) pieces.push(body.subarray(at, edit.start));
    if (edit.text !== '') pieces.push(Buffer.from(edit.text));
    at = edit.end;
  }
  if (at < body.length) pieces.push(body.subarray(at));
  return pieces;
}
