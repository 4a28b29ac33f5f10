/**
 * Headers that the configuration sets on every call of an entry.
 * Owns which names and values may stand there (D23); must not read where they come from.
 */
import { parsedJson } from '../../core/text/parsed-json.ts';
import { isReservedStaticHeader, isSendableValue } from '../relay/header-names.ts';
import { asObject } from '../relay/json-value.ts';

const HEADER_NAME = /^[a-z0-9!#$%&'*+.^_`|~-]+$/;

export interface StaticHeaders {
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>;
  /** Each a sentence's rest about what cannot be used. */
  readonly refused: readonly string[];
  /** Each a sentence's rest about what is left out. */
  readonly leftOut: readonly string[];
}

/** An object of header name to text, or the same as one JSON text, as a form of the admin console gives it. */
export function readStaticHeaders(value: unknown, vendor: string): StaticHeaders {
  const headers = new Map<string, string>();
  const refused: string[] = [];
  const leftOut: string[] = [];
  const object = value === undefined ? {} : asObject(typeof value === 'string' ? parsedJson(value) : value);
  if (object === null) refused.push('it must be an object of header name to text');
  for (const [given, text] of Object.entries(object ?? {})) {
    const name = given.toLowerCase();
    if (!HEADER_NAME.test(name) || typeof text !== 'string' || !isSendableValue(text)) {
      refused.push(`"${given}" cannot be sent as a header`);
    } else if (isReservedStaticHeader(name, vendor)) {
      leftOut.push(`"${given}" is set by the proxy and left out`);
    } else {
      headers.set(name, text);
    }
  }
  return { headers, refused, leftOut };
}
