/** The header rule as a table (D23): which names pass, which stay, and who wins where two set the same one. */
import { describe, expect, it } from 'vitest';
import { HEADERS_KEPT_BACK_DEFAULT } from '../../proxy/config/config.ts';
import { headerRule, upstreamHeaders, type HeaderInput } from '../../proxy/relay/request-headers.ts';

const RULE = headerRule(
  { forwardClientHeaders: true, headersKeptBack: HEADERS_KEPT_BACK_DEFAULT },
  'proxyvendor',
);
const OFF = headerRule(
  { forwardClientHeaders: false, headersKeptBack: HEADERS_KEPT_BACK_DEFAULT },
  'proxyvendor',
);
const OWN = {
  authorization: 'Bearer k',
  accept: 'application/json',
  'accept-encoding': 'identity',
  'user-agent': 'parley-proxy',
  'content-type': 'application/json',
  'content-length': '5',
};

function sent(
  rawHeaders: readonly string[],
  given: Partial<HeaderInput> & { rule?: typeof RULE } = {},
): unknown {
  const entry = given.entry ?? { apiKey: 'k', extraHeaders: new Map<string, string>() };
  const { sessionId = null, words = 'openai' } = given;
  const input = { rawHeaders, sessionId, entry, contentLength: 5, words };
  const outcome = upstreamHeaders(given.rule ?? RULE, input);
  if (!outcome.ok) return outcome.name;
  const pairs = Array.from({ length: outcome.headers.length / 2 }, (_, i) =>
    outcome.headers.slice(2 * i, 2 * i + 2),
  );
  const all = Object.fromEntries(pairs) as Record<string, string>;
  return Object.fromEntries(
    Object.entries(all).filter(([name, value]) => (OWN as Record<string, string>)[name] !== value),
  );
}

describe('upstreamHeaders()', () => {
  it.each([
    'x-team-id',
    'X-A_b',
    'anthropic-beta',
    'anthropic-version',
    'x-request-id',
    'x-amzn-trace-id',
    'x-proxyvendor-spend-logs-metadata',
    'x-proxyvendor-session-id',
  ])('forwards %s', (name) => expect(sent([name, 'v'])).toEqual({ [name.toLowerCase()]: 'v' }));

  it.each([
    'x-stainless-os',
    'X-Stainless',
    'x-api-key',
    'x-proxyvendor-api-key',
    'x-session-api-key',
    'x-access-token',
    'x-init-api-key',
    'x-goog-api-key',
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-real-ip',
    'x-http-method-override',
    'cookie',
    'openai-organization',
    'traceparent',
    'api-key',
    'te',
    'transfer-encoding',
    'host',
    'content-length',
    'authorization',
    'user-agent',
    'anthropic',
    'xteam',
  ])('keeps %s back', (name) => expect(sent([name, 'v'])).toEqual({}));

  it('keeps back what Connection names', () => {
    expect(sent(['x-hop', '1', 'Connection', 'keep-alive, X-Hop', 'x-stay', '2'])).toEqual({ 'x-stay': '2' });
  });

  it('joins a name that comes twice', () => {
    expect(sent(['x-a', '1', 'X-A', '2'])).toEqual({ 'x-a': '1, 2' });
  });

  it.each(['J\u00fcrgen', 'a\r\nb: c', '\u0000', '\u007f', '\u20ac'])(
    'refuses the value %j by its name',
    (value) => {
      expect(sent(['X-Name', value])).toBe('x-name');
      expect(sent(['X-Name', value], { rule: OFF })).toEqual({});
      expect(sent(['x-api-key', value])).toEqual({});
    },
  );

  it('overwrites the session id of a bound key, and forwards none while forwarding is off', () => {
    const raw = ['x-proxyvendor-session-id', 'mine', 'x-a', '1'];
    expect(sent(raw, { sessionId: 's1' })).toEqual({ 'x-proxyvendor-session-id': 's1', 'x-a': '1' });
    expect(sent(raw, { sessionId: 's1', rule: OFF })).toEqual({});
  });

  it('lets a static header of the entry win over the caller and over the key, not over the framing', () => {
    const extraHeaders = new Map([
      ['x-a', 'static'],
      ['authorization', 'Basic z'],
      ['content-length', '9'],
    ]);
    const entry = { apiKey: 'k', extraHeaders };
    expect(sent(['x-a', 'mine'], { entry })).toEqual({ 'x-a': 'static', authorization: 'Basic z' });
    expect(sent([], { entry, rule: OFF })).toEqual({ 'x-a': 'static', authorization: 'Basic z' });
  });

  it('takes the configurable names from the configuration', () => {
    const rule = headerRule({ forwardClientHeaders: true, headersKeptBack: ['x-own-*'] }, 'acme');
    const raw = ['x-own-a', '1', 'x-real-ip', '2', 'x-acme-api-key', '3', 'x-proxyvendor-api-key', '4'];
    expect(sent(raw, { rule })).toEqual({ 'x-real-ip': '2', 'x-proxyvendor-api-key': '4' });
  });
});
