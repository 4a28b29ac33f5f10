/** The body splice against JSON.parse: equal where JSON is valid, never valid where it was not. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BodyChunks, type SentBody } from '../../proxy/relay/body-chunks.ts';
import { CHAT } from '../../proxy/relay/relay-kind.ts';
import { readBySplicing, readByParsing, readRelayRequest } from '../../proxy/relay/relay-request.ts';

const FORM = { kind: CHAT, pathModel: null };

type Fields = Record<string, unknown>;

/** What the upstream body must mean, computed the slow way. */
function expected(fields: Fields): Fields {
  const { user: _user, ...rest } = fields;
  const result: Fields = { ...rest, model: 'up/m' };
  const options = fields['stream_options'];
  if (fields['stream'] === true) {
    if (options === undefined || options === null) result['stream_options'] = { include_usage: true };
    else if (typeof options === 'object' && !Array.isArray(options))
      result['stream_options'] = { ...options, include_usage: true };
  }
  return result;
}

const nasty = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.constantFrom(
    '"',
    '\\',
    '\\\\"',
    '{"model":"x"}',
    ',"user":"y"}',
    '\u0000',
    '\ud83d\ude00',
    'a'.repeat(40) + '\\"',
  ),
);
const value = fc.jsonValue({ maxDepth: 3, noUnicodeString: false });
const fields = fc
  .tuple(
    fc.dictionary(nasty, value, { maxKeys: 5 }),
    fc.record(
      {
        model: fc.string({ minLength: 1 }).filter((name) => !name.includes('://')),
        messages: fc.array(value, { maxLength: 3 }),
        user: fc.oneof(nasty, value),
        stream: fc.oneof(fc.boolean(), value),
        stream_options: fc.oneof(
          value,
          fc.record({ include_usage: fc.boolean(), other: value }, { requiredKeys: [] }),
        ),
      },
      { requiredKeys: ['model', 'messages'] },
    ),
    fc.infiniteStream(fc.nat()),
  )
  .map(([others, own, order]) => {
    const keyed = Object.entries({ ...others, ...own }).map((entry) => ({
      entry,
      rank: order.next().value ?? 0,
    }));
    return keyed.sort((a, b) => a.rank - b.rank).map(({ entry }) => entry);
  });
const space = fc.constantFrom('', ' ', '\n', '\t\r\n ');

/** Writes the members with white space in all places. */
const body = fc.tuple(fields, fc.array(space, { minLength: 6, maxLength: 6 })).map(([entries, s]) => {
  const members = entries.map(
    ([key, item]) => `${JSON.stringify(key)}${s[0]}:${s[1]}${JSON.stringify(item)}`,
  );
  return `${s[2]}{${s[3]}${members.join(`${s[4]},${s[5]}`)}${s[0]}}${s[1]}`;
});

describe('readRelayRequest()', () => {
  it('means the same as parsing, editing and writing', () => {
    fc.assert(
      fc.property(body, (text) => {
        const parsed = JSON.parse(text) as Fields;
        const reading = readRelayRequest(whole(text), FORM);
        if (!reading.ok) throw new Error(reading.reason);
        const { request } = reading;
        const rewritten = sent(request.rewrite('up/m'));
        expect(JSON.parse(rewritten)).toEqual(JSON.parse(JSON.stringify(expected(parsed))));
        expect(request.model).toBe(parsed['model']);
        expect(request.streamed).toBe(parsed['stream'] === true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('means the same wherever the body is cut, and however long it is', () => {
    // Long enough to be sent in pieces, with what ends a text or seems to all along.
    const long = fc
      .tuple(nasty, fc.constantFrom(0, 70_000))
      .map(([text, length]) => text.padEnd(length, text));
    const cut = fc
      .tuple(fields, long, fc.array(fc.nat(), { maxLength: 8 }))
      .map(([entries, text, places]) => {
        const bytes = Buffer.from(
          JSON.stringify({ before: text, ...Object.fromEntries(entries), behind: text }),
        );
        const at = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
        return { bytes, chunks: [0, ...at].map((from, i) => bytes.subarray(from, at[i] ?? bytes.length)) };
      });
    fc.assert(
      fc.property(cut, ({ bytes, chunks }) => {
        const [one, many] = [
          readBySplicing(new BodyChunks([bytes]), FORM),
          readBySplicing(new BodyChunks(chunks), FORM),
        ];
        expect(many === null).toBe(one === null);
        expect(many?.ok).toBe(one?.ok);
        if (one?.ok !== true || many?.ok !== true) return;
        expect(sent(many.request.rewrite('up/m'))).toBe(sent(one.request.rewrite('up/m')));
        expect(JSON.parse(sent(many.request.rewrite('up/m')))).toEqual(
          JSON.parse(JSON.stringify(expected(JSON.parse(bytes.toString('utf8')) as Fields))),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('reads the same facts both ways', () => {
    fc.assert(
      fc.property(body, (text) => {
        const spliced = readBySplicing(whole(text), FORM);
        const parsed = readByParsing(whole(text), FORM);
        if (spliced === null) return;
        expect(spliced.ok && parsed.ok).toBe(true);
        if (!spliced.ok || !parsed.ok) return;
        const facts = ({ rewrite: _rewrite, ...rest }: typeof spliced.request): object => rest;
        expect(facts(spliced.request)).toEqual(facts(parsed.request));
      }),
      { numRuns: 1_000 },
    );
  });

  it('never makes valid JSON out of text that is none, and never throws', () => {
    const broken = fc
      .tuple(body, fc.nat(), fc.constantFrom('', '"', '\\', ',', '}', '{', ']', ':', 'x', '\u0007'))
      .map(([text, at, insert]) => {
        const i = at % (text.length + 1);
        return insert === '' ? text.slice(0, i) : text.slice(0, i) + insert + text.slice(i + (at % 2));
      });
    fc.assert(
      fc.property(broken, (text) => {
        const isValid = parses(text);
        const reading = readRelayRequest(whole(text), FORM);
        if (isValid || !reading.ok) return;
        expect(parses(sent(reading.request.rewrite('up/m')))).toBe(false);
      }),
      { numRuns: 3_000 },
    );
  });

  it('leaves every other byte alone', () => {
    const text =
      '{ "a":1.0,"user" : "u" , "b":"\\u00e9","stream":true,\n"model": "m","messages":[1,{"model":"n"}] }';
    const reading = readRelayRequest(whole(text), FORM);
    if (!reading.ok) throw new Error(reading.reason);
    expect(sent(reading.request.rewrite('up'))).toBe(
      '{"stream_options":{"include_usage":true}, "a":1.0,"b":"\\u00e9","stream":true,\n"model": "up","messages":[1,{"model":"n"}] }',
    );
  });

  it('refuses an address for a model, read either way', () => {
    const text = '{"messages":[],"model":"http://host/v1"}';
    for (const read of [readBySplicing, readByParsing])
      expect(read(whole(text), FORM)).toMatchObject({ ok: false, param: 'model' });
  });

  it('parses what a splice could misread: duplicate and escaped keys', () => {
    for (const text of [
      '{"model":"a","messages":[],"model":"b"}',
      '{"mod\\u0065l":"b","messages":[]}',
      '{"messages":[],"model":"b","us\\u0065r":"x"}',
    ]) {
      expect(readBySplicing(whole(text), FORM)).toBeNull();
      const reading = readRelayRequest(whole(text), FORM);
      if (!reading.ok) throw new Error(reading.reason);
      expect(reading.request.model).toBe('b');
      const rewritten = sent(reading.request.rewrite('up'));
      expect(JSON.parse(rewritten)).toEqual({ model: 'up', messages: [] });
    }
  });
});

function whole(text: string): BodyChunks {
  return new BodyChunks([Buffer.from(text)]);
}

function sent(body: SentBody): string {
  return Buffer.isBuffer(body) ? body.toString('utf8') : Buffer.concat(body).toString('utf8');
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
