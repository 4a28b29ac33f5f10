/**
 * The body of a relayed call: what the proxy reads of it and what it changes.
 * Owns the edits (`model`, the user's name, `stream_options`); every other byte goes upstream unchanged.
 */
import { parsedJson } from '../../core/text/parsed-json.ts';
import type { BodyChunks, Edit, SentBody } from './body-chunks.ts';
import { asObject, type JsonObject } from './json-value.ts';
import { ESCAPE_OR_CONTROL, scanTopLevel, type Member, type TopLevel } from './json-scan.ts';
import { USER_LENGTH_MAX } from '../limits.ts';
import type { RelayKind } from './relay-kind.ts';

export interface RelayRequest {
  readonly model: string;
  /** The user that the caller names, `user` or in messages `metadata.user_id`: recorded, never forwarded (D23). */
  readonly user: string | null;
  readonly streamed: boolean;
  /** Whether the caller itself requested the usage frame of a stream. */
  readonly usageAsked: boolean;
  /** The most tokens that the call lets its answers have, all of them together; null where it sets no limit. */
  readonly outputTokensMax: number | null;
  /** A member names what is not in the body, or lets the gateway add to it. */
  readonly namesInputBeside: boolean;
  /** As the caller sent it. */
  readonly body: BodyChunks;
  /** The upstream body: `model` replaced, `user` removed, usage requested when streamed. */
  rewrite(upstreamModel: string): SentBody;
}

export type RelayReading =
  | { readonly ok: true; readonly request: RelayRequest }
  | { readonly ok: false; readonly param: string; readonly reason: string };

export interface RelayForm {
  readonly kind: RelayKind;
  /** From the path, where it wins over the body; null when the path names none. */
  readonly pathModel: string | null;
}

const EDITED = ['model', 'user', 'stream', 'stream_options', 'metadata'];
/** Members that name what is not in the body, or let the gateway add to it. */
const BESIDE_MEMBERS = [
  ...['previous_response_id', 'conversation', 'prompt', 'prediction', 'web_search_options'],
  ...['mcp_servers', 'container'],
];
/** Limits of the answer, by the names of each route; the smallest counts. */
const OUTPUT_LIMITS = ['max_completion_tokens', 'max_tokens', 'max_output_tokens'];

/** Reads by byte offsets where the body is plain, else by parsing it (duplicate or escaped keys; rare). */
export function readRelayRequest(body: BodyChunks, form: RelayForm): RelayReading {
  return readBySplicing(body, form) ?? readByParsing(body, form);
}

const WANTED = new Map<RelayKind, ReadonlySet<string>>();

function wantedBy(kind: RelayKind): ReadonlySet<string> {
  const known = WANTED.get(kind);
  if (known !== undefined) return known;
  const read = [...EDITED, ...OUTPUT_LIMITS, 'n', ...BESIDE_MEMBERS];
  const wanted = new Set(kind.required === null ? read : [...read, kind.required.name]);
  WANTED.set(kind, wanted);
  return wanted;
}

/** null: the body is odd, parse it. Exported for the fuzz test, which compares both ways. */
export function readBySplicing(body: BodyChunks, form: RelayForm): RelayReading | null {
  const top = scanTopLevel(body.chunks, wantedBy(form.kind));
  if (top === null) return null;
  const fields: Record<string, unknown> = {};
  for (const [key, member] of top.members) {
    fields[key] = key === form.kind.required?.name ? shapeAt(body, member) : valueAt(body, member);
    if (fields[key] === undefined) return null;
  }
  // Without a member there is no place to splice into.
  if (top.members.size === 0) return null;
  return reading(fields, { form, body }, (upstreamModel) =>
    body.edited(editsOf(top, { fields, form, upstreamModel })),
  );
}

/** A text without escapes is taken unparsed; most calls have no other value among the relevant fields. */
function valueAt(body: BodyChunks, { valueStart, valueEnd }: Member): unknown {
  const text = body.text(valueStart, valueEnd);
  if (text.charCodeAt(0) !== QUOTE) return text === 'true' ? true : parsedJson(text);
  return ESCAPE_OR_CONTROL.test(text) ? parsedJson(text) : text.slice(1, -1);
}

const QUOTE = 0x22;

/** Only the type, by the first character: prompts are long, and the proxy does not need their content. */
function shapeAt(body: BodyChunks, { valueStart, valueEnd }: Member): unknown {
  switch (body.text(valueStart, valueStart + 1)) {
    case '[':
      return [];
    case '"':
      return '"';
    case '{':
      return {};
    default:
      return parsedJson(body.text(valueStart, valueEnd));
  }
}

/** Numbers beyond double precision lose digits here; plain bodies never get here. */
export function readByParsing(body: BodyChunks, form: RelayForm): RelayReading {
  const parsed = parsedBody(body);
  if (typeof parsed === 'string') return { ok: false, param: 'request_body', reason: parsed };
  return reading(parsed, { form, body }, (upstreamModel) => {
    const { user: _recorded, ...others } = parsed;
    const metadata = metadataWithoutUser(parsed, form.kind);
    const rest = metadata === null ? others : { ...others, metadata };
    const isAsked = form.kind.asksUsage && parsed['stream'] === true;
    const usage = isAsked ? { stream_options: withUsage(parsed['stream_options']) } : {};
    return Buffer.from(JSON.stringify({ ...rest, model: upstreamModel, ...usage }));
  });
}

/** The object, or why there is none. Errors name the position, never the text around it, which may be a prompt. */
function parsedBody(body: BodyChunks): JsonObject | string {
  try {
    return asObject(JSON.parse(body.bytes().toString('utf8'))) ?? 'it must be a JSON object';
  } catch (error) {
    const place = /at position (\d+)/.exec(error instanceof Error ? error.message : '')?.[1];
    return `it is no valid JSON, from position ${place ?? body.length} on`;
  }
}

function reading(
  fields: JsonObject,
  { form, body }: { readonly form: RelayForm; readonly body: BodyChunks },
  rewrite: RelayRequest['rewrite'],
): RelayReading {
  const { stream, stream_options: options } = fields;
  const model = form.pathModel ?? fields['model'];
  if (typeof model !== 'string' || model === '') return refused('model', '"model" must be a text');
  if (model.includes('://')) return refused('model', '"model" must be a name and no address');
  const fault = requiredFault(fields, form.kind);
  if (fault !== null) return fault;
  const { metadata = null } = fields;
  if (metadata !== null && asObject(metadata) === null)
    return refused('metadata', '"metadata" must be an object');
  return {
    ok: true,
    request: {
      model,
      user: userIn(fields, form.kind),
      streamed: stream === true,
      outputTokensMax: outputTokensMax(fields),
      namesInputBeside: BESIDE_MEMBERS.some((name) => (fields[name] ?? null) !== null),
      body,
      usageAsked: !form.kind.asksUsage || asObject(options)?.['include_usage'] === true,
      rewrite,
    },
  };
}

function userIn(fields: JsonObject, { words }: RelayKind): string | null {
  const user = words === 'anthropic' ? asObject(fields['metadata'])?.['user_id'] : fields['user'];
  return typeof user === 'string' ? user.slice(0, USER_LENGTH_MAX) : null;
}

/** What replaces `metadata`; null where it is forwarded unchanged. */
function metadataWithoutUser(fields: JsonObject, { words }: RelayKind): JsonObject | null {
  const metadata = words === 'anthropic' ? asObject(fields['metadata']) : null;
  if (metadata === null || !('user_id' in metadata)) return null;
  const { user_id: _recorded, ...rest } = metadata;
  return rest;
}

/** Null as well for a value that is no count: how the gateway treats it is unknown. */
function outputTokensMax(fields: JsonObject): number | null {
  const limits = OUTPUT_LIMITS.flatMap((name) => fields[name] ?? []).map(countOf);
  const answers = countOf(fields['n'] ?? 1);
  const known = limits.filter((limit) => limit !== null);
  if (known.length === 0 || known.length < limits.length || answers === null) return null;
  return Math.min(...known) * answers;
}

function countOf(value: unknown): number | null {
  const isCount = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= COUNT_MAX;
  return isCount ? value : null;
}

/** Beyond it a product of two is no exact number. */
const COUNT_MAX = 90_000_000;

function refused(param: string, reason: string): RelayReading {
  return { ok: false, param, reason };
}

function requiredFault(fields: JsonObject, { required }: RelayKind): RelayReading | null {
  if (required === null) return null;
  const value = fields[required.name] ?? null;
  if (value === null) return refused(required.name, `the parameter "${required.name}" is missing`);
  if (!required.isList || Array.isArray(value)) return null;
  return refused(required.name, `"${required.name}" must be a list`);
}

/** A value that is no object is forwarded unchanged: the gateway refuses it. */
function withUsage(options: unknown): unknown {
  if (options === undefined || options === null) return { include_usage: true };
  const object = asObject(options);
  return object === null ? options : { ...object, include_usage: true };
}

interface Change {
  readonly fields: JsonObject;
  readonly form: RelayForm;
  readonly upstreamModel: string;
}

/** In the order of the body: insertions before the first member, then the members in their order. */
function editsOf(top: TopLevel, { fields, form, upstreamModel }: Change): readonly Edit[] {
  const model = JSON.stringify(upstreamModel);
  const asksUsage = form.kind.asksUsage && fields['stream'] === true;
  const usage = asksUsage ? JSON.stringify(withUsage(fields['stream_options'])) : null;
  const metadata = metadataWithoutUser(fields, form.kind);
  const edits: Edit[] = [];
  if (!top.members.has('model')) edits.push(insertion(top, `"model":${model},`));
  if (usage !== null && !top.members.has('stream_options'))
    edits.push(insertion(top, `"stream_options":${usage},`));
  for (const [key, member] of top.members) {
    if (key === 'model') edits.push(replacement(member, model));
    else if (key === 'user') edits.push(removal(member));
    else if (key === 'stream_options' && usage !== null) edits.push(replacement(member, usage));
    else if (key === 'metadata' && metadata !== null)
      edits.push(replacement(member, JSON.stringify(metadata)));
  }
  return edits;
}

/** Before the first member; callers ensure that a member remains after it. */
function insertion(top: TopLevel, text: string): Edit {
  return { start: top.start + 1, end: top.start + 1, text };
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
