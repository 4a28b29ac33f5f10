/**
 * A body of JSON as it came in, read once for every route.
 * Owns what no route takes, at any depth: bytes that are no UTF-8, half a surrogate pair, the key `__proto__`, and more
 * levels than recursion can walk.
 */
import { isDeeperThan } from '../../core/canonical-json.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { invalid, InvalidRequest, type Finding } from './validation.ts';

/** Only an escape can make half of a surrogate pair, or hide the key. */
const SUSPICIOUS = /\\u|__proto__/;
const LONE_SURROGATE = /[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/;
/** One finding says what is wrong; a body with a million of them does not get them all listed. */
const FINDINGS_MAX = 20;

/** No shape of a route has a tenth of it. */
const LEVELS_MAX = 200;

/** @throws ParleyError invalid_request: it is no JSON, or no text at the place that is named */
export function jsonBody(text: string): unknown {
  const value = parsed(text);
  const findings = SUSPICIOUS.test(text) ? findingsIn(value) : [];
  if (findings.length > 0) throw new InvalidRequest(findings);
  // Each level is two characters at least.
  if (text.length > LEVELS_MAX && isDeeperThan(LEVELS_MAX, value))
    throw invalid(['body'], `Input should have at most ${LEVELS_MAX} levels`);
  return value;
}

const UTF8 = new TextDecoder('utf-8', { fatal: true });

/** JSON is UTF-8; other bytes would silently become other text. @throws ParleyError invalid_request */
export function bodyText(bytes: Uint8Array): string {
  try {
    return UTF8.decode(bytes);
  } catch {
    throw invalid(['body'], 'Input should be UTF-8', 'string_unicode');
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ParleyError('invalid_request', 'Cannot read the body: it is no JSON');
  }
}

/** Where a value stands, as a chain: a list for each value would be as long as the body is deep. */
interface Place {
  readonly value: unknown;
  readonly key: string;
  readonly outer: Place | null;
}

function findingsIn(body: unknown): readonly Finding[] {
  const findings: Finding[] = [];
  const open: Place[] = [{ value: body, key: 'body', outer: null }];
  for (let place = open.pop(); place !== undefined && findings.length < FINDINGS_MAX; place = open.pop()) {
    const { value } = place;
    if (typeof value === 'string' && LONE_SURROGATE.test(value)) findings.push(noText(place));
    if (typeof value !== 'object' || value === null) continue;
    for (const [key, inner] of Object.entries(value)) {
      if (key === '__proto__') findings.push(noKey(place));
      else if (LONE_SURROGATE.test(key)) findings.push(noText(place));
      else open.push({ value: inner, key, outer: place });
    }
  }
  return findings;
}

function noText(place: Place): Finding {
  const msg = 'Input should be text: half of a surrogate pair is none';
  return { loc: locOf(place), msg, type: 'string_unicode' };
}

function noKey(place: Place): Finding {
  return { loc: locOf(place), msg: 'A key cannot be "__proto__"', type: 'value_error' };
}

/** A longer path does not help the client. */
const LOC_MAX = 32;

function locOf(place: Place): readonly (string | number)[] {
  const loc: (string | number)[] = [];
  for (let at: Place | null = place; at !== null && loc.length < LOC_MAX; at = at.outer)
    loc.unshift(Array.isArray(at.outer?.value) ? Number(at.key) : at.key);
  return loc;
}
