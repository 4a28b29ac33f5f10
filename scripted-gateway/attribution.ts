// What the headers of a call say about whose it is: session, tags, metadata. The vendor word in the names is free (D1).
// It must not fail a call: what cannot be read is left out, as real gateways do.

import type { IncomingHttpHeaders } from 'node:http';

export interface Attribution {
  readonly sessionId: string | null;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

const sessionHeader = /^x-(?:.+-)?session-id$/;
const tagsHeader = /^x-(?:.+-)?tags$/;
const metadataHeader = /^x-(?:.+-)?spend-logs-metadata$/;

/** Reads the three headers; of several that match, the first by name. Tags of the key come first, each tag once. */
export function attributionOf(headers: IncomingHttpHeaders, keyTags: readonly string[]): Attribution {
  const named = (headerTags: string | null): readonly string[] =>
    (headerTags ?? '')
      .split(',')
      .map((tag) => tag.trim())
      .filter((tag) => tag !== '');
  return {
    sessionId: headerLike(headers, sessionHeader),
    tags: [...new Set([...keyTags, ...named(headerLike(headers, tagsHeader))])],
    metadata: parseObject(headerLike(headers, metadataHeader)),
  };
}

function headerLike(headers: IncomingHttpHeaders, pattern: RegExp): string | null {
  const name = Object.keys(headers)
    .filter((one) => pattern.test(one))
    .sort()[0];
  const value = name === undefined ? undefined : headers[name];
  const text = Array.isArray(value) ? value.join(', ') : value;
  return text === undefined || text === '' ? null : text;
}

function parseObject(text: string | null): Readonly<Record<string, unknown>> | null {
  if (text === null) return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isObject ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
