/** Payloads encrypted and opened again: every payload, every key that is configured, and nothing that was changed. */
import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { ApplicationFailure, defaultPayloadConverter, type Payload } from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ParleyError } from '../../core/parley-error.ts';
import { parseCodecKeys, type CodecKeys } from '../../temporal/codec/codec-keys.ts';
import { payloadFromBytes, payloadToBytes } from '../../temporal/codec/payload-bytes.ts';
import { isEncrypted, keyIdOf, payloadCodecOf } from '../../temporal/codec/payload-codec.ts';
import { failureConverter } from '../../workflows/failure-converter.ts';

const K1 = randomBytes(32).toString('base64');
const K2 = randomBytes(32).toString('base64');

function keys(value: string): CodecKeys {
  const parsed = parseCodecKeys(value);
  if (parsed === null) throw new Error('there are no keys');
  return parsed;
}

const codec = (value: string) => payloadCodecOf(keys(value));

const aPayload = fc.record({
  metadata: fc.dictionary(
    fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('encoding', '__proto__', 'encryption-key-id')),
    fc.uint8Array({ maxLength: 300 }),
    { noNullPrototype: true },
  ),
  data: fc.uint8Array({ maxLength: 40_000, size: 'max' }),
});

/** A value as the SDK's own converter writes it. */
function json(value: unknown): Payload {
  return {
    metadata: { encoding: Buffer.from('json/plain') },
    data: Buffer.from(JSON.stringify(value)),
  };
}

/** What a payload holds, whatever class its bytes are of. */
function plain({ metadata, data }: Payload): unknown {
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, hex(value)]);
  return { metadata: entries.sort(), data: hex(data ?? new Uint8Array(0)) };
}

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');

async function encodeOne(by: ReturnType<typeof codec>, payload: Payload): Promise<Payload> {
  const [sealed] = await by.encode([payload]);
  if (sealed === undefined) throw new Error('nothing came back');
  return sealed;
}

describe('payload codec', () => {
  it('gives every payload back as it was', async () => {
    const one = codec(`a:${K1}`);
    await fc.assert(
      fc.asyncProperty(fc.array(aPayload, { maxLength: 4 }), async (payloads) => {
        const sealed = await one.encode(payloads);
        expect(sealed.every(isEncrypted)).toBe(true);
        expect((await one.decode(sealed)).map(plain)).toEqual(payloads.map(plain));
      }),
    );
  });

  it('leaves nothing of the plaintext in the bytes, and never the same bytes twice', async () => {
    const one = codec(`a:${K1}`);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 8, maxLength: 200 }), async (data) => {
        const metadata = { encoding: Buffer.from('json/plain'), messageType: data };
        const first = await encodeOne(one, { metadata, data });
        const second = await encodeOne(one, { metadata, data });
        expect(Object.keys(first.metadata ?? {})).toEqual([
          'encoding',
          'encryption-algorithm',
          'encryption-key-id',
        ]);
        const bytes = Buffer.from(first.data ?? []);
        expect(bytes.includes(Buffer.from(data))).toBe(false);
        expect(bytes.includes('json/plain')).toBe(false);
        expect(bytes.subarray(0, 12)).not.toEqual(Buffer.from(second.data ?? []).subarray(0, 12));
        expect(hex(bytes)).not.toBe(hex(second.data ?? new Uint8Array(0)));
      }),
    );
  });

  it('encrypts with the first key and opens with all of them', async () => {
    const before = await encodeOne(codec(`old:${K1}`), json('x'));
    const rotated = codec(`new:${K2},old:${K1}`);
    const after = await encodeOne(rotated, json('y'));
    expect([keyIdOf(before), keyIdOf(after)]).toEqual(['old', 'new']);
    expect((await rotated.decode([before, after])).map(plain)).toEqual([json('x'), json('y')].map(plain));
  });

  it('lets a payload pass that is not encrypted, with keys and without', async () => {
    const foreign = [json('x'), {}, { metadata: { encoding: Buffer.from('binary/other') } }];
    expect(await codec(`a:${K1}`).decode(foreign)).toEqual(foreign);
    expect(await payloadCodecOf(null).decode(foreign)).toEqual(foreign);
    expect(await payloadCodecOf(null).encode(foreign)).toEqual(foreign);
  });

  it('takes off one layer of two, so that a payload that was encrypted by a program stays as it was', async () => {
    const one = codec(`a:${K1}`);
    const inner = await encodeOne(one, json('x'));
    const [opened] = await one.decode([await encodeOne(one, inner)]);
    expect(plain(opened ?? {})).toEqual(plain(inner));
  });

  it('refuses a payload in which any bit was changed, or that was cut', async () => {
    const one = codec(`a:${K1}`);
    const sealed = await encodeOne(one, json('x'));
    const data = Buffer.from(sealed.data ?? []);
    await fc.assert(
      fc.asyncProperty(fc.nat(data.length * 8 - 1), async (bit) => {
        const changed = Buffer.from(data);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        await expect(one.decode([{ ...sealed, data: changed }])).rejects.toMatchObject({
          code: 'seal_broken',
        });
      }),
    );
    for (let length = 0; length < data.length; length++) {
      const cut = { ...sealed, data: data.subarray(0, length) };
      await expect(one.decode([cut])).rejects.toMatchObject({ code: 'seal_broken' });
    }
  });

  it('refuses metadata that was exchanged, also between two names of one key', async () => {
    const one = codec(`a:${K1},b:${K1}`);
    const sealed = await encodeOne(one, json('x'));
    const withMetadata = (name: string, value: string) => ({
      ...sealed,
      metadata: { ...sealed.metadata, [name]: Buffer.from(value) },
    });
    for (const changed of [
      withMetadata('encryption-key-id', 'b'),
      withMetadata('encryption-key-id', 'a b'),
      withMetadata('encryption-algorithm', 'aes-128-gcm'),
      { ...sealed, metadata: { encoding: Buffer.from('binary/encrypted') } },
    ]) {
      await expect(one.decode([changed])).rejects.toMatchObject({ code: 'seal_broken' });
    }
  });

  it('refuses another key of the same id', async () => {
    const sealed = await encodeOne(codec(`a:${K1}`), json('x'));
    await expect(codec(`a:${K2}`).decode([sealed])).rejects.toThrow(
      'Cannot decrypt a payload: it was changed, or the key "a" is another than the one that sealed it; restore the key of that id',
    );
  });

  it('names the key that is missing, and the remedy', async () => {
    const sealed = await encodeOne(codec(`a:${K1}`), json('x'));
    for (const other of [codec(`b:${K2}`), payloadCodecOf(null)]) {
      const refused = expect(other.decode([sealed])).rejects;
      await refused.toMatchObject({
        code: 'codec_key_missing',
        message:
          'Cannot decrypt a payload: the key "a" is not configured; add it under that id to PARLEY_TEMPORAL_CODEC_KEYS',
      });
    }
  });
});

describe('failure converter', () => {
  it('moves message and stack of every failure of a chain into a payload, and back', () => {
    const error = ApplicationFailure.create({ message: 'outer', cause: new Error('inner') });
    const failure = failureConverter.errorToFailure(error, defaultPayloadConverter);
    for (const one of [failure, failure.cause]) {
      expect(one).toMatchObject({ message: 'Encoded failure', stackTrace: '' });
    }
    const back = failureConverter.failureToError(failure, defaultPayloadConverter);
    expect(back).toMatchObject({ message: 'outer', cause: { message: 'inner' } });
  });
});

describe('payload as bytes', () => {
  it('is the layout of Temporal: metadata as a map in field 1, data in field 2', () => {
    const bytes = payloadToBytes({ metadata: { e: Buffer.from('j') }, data: Buffer.from('{}') });
    expect(hex(bytes)).toBe('0a060a016512016a12027b7d');
    const long = payloadToBytes({ data: Buffer.alloc(300, 1) });
    expect(hex(long.subarray(0, 4))).toBe('12ac0201');
  });

  it('reads a payload whose name or value is left out, and refuses what is none', () => {
    expect(plain(payloadFromBytes(Buffer.from('0a030a0165', 'hex')))).toEqual({
      metadata: [['e', '']],
      data: '',
    });
    for (const bytes of ['0a', '0a05', '1a00', '12ffffffffff', '1280']) {
      expect(() => payloadFromBytes(Buffer.from(bytes, 'hex'))).toThrow(RangeError);
    }
  });
});

describe('PARLEY_TEMPORAL_CODEC_KEYS', () => {
  it('is no keys when it is not set or empty', () => {
    expect(parseCodecKeys(undefined)).toBeNull();
    expect(parseCodecKeys('')).toBeNull();
  });

  it('holds keys in order, padded or not, with blanks around them', () => {
    const parsed = keys(` a:${K1} , b.2_x-Y:${K2.replace('=', '')} `);
    expect(parsed.current.id).toBe('a');
    expect([...parsed.byId.keys()]).toEqual(['a', 'b.2_x-Y']);
    expect(parsed.byId.get('b.2_x-Y')?.key.export().toString('base64')).toBe(K2);
  });

  it.each([
    ['an entry that is empty', `a:${K1},`, 'entry 2 is empty'],
    ['blanks alone', '  ', 'entry 1 is empty'],
    ['a key without an id', K1, 'entry 1 has no colon'],
    ['an empty id', `:${K1}`, 'entry 1 has no valid id'],
    ['an id with a blank', `a b:${K1}`, 'entry 1 has no valid id'],
    ['key and id the wrong way round', `${K1.replace('=', '')}:a`, 'entry 1 has no valid id'],
    [
      'what is not base64',
      `a:${K1},b:${K2.slice(0, 20)}!${K2.slice(21)}`,
      'entry 2 has a key that is not base64',
    ],
    ['an empty key', 'a:', 'entry 1 has a key of 0 bytes instead of 32'],
    ['a short key', `a:${randomBytes(16).toString('base64')}`, 'entry 1 has a key of 16 bytes instead of 32'],
    ['a long key', `a:${randomBytes(33).toString('base64')}`, 'entry 1 has a key of 33 bytes instead of 32'],
    ['an id given twice', `a:${K1},a:${K2}`, 'entry 2 has the id of an earlier entry'],
  ])('refuses %s in a sentence with a remedy, and no part of the value', (_name, value, problem) => {
    let error: unknown;
    try {
      parseCodecKeys(value);
    } catch (thrown) {
      error = thrown;
    }
    const { message, remedy } = error as ParleyError;
    expect(error).toMatchObject({
      code: 'config_invalid',
      message: `Cannot read PARLEY_TEMPORAL_CODEC_KEYS: ${problem}`,
      remedy: expect.stringMatching(/^(write|make|give) /),
    });
    for (const part of value.split(/[,:]/).filter((text) => text.length > 8)) {
      expect(`${message} ${remedy}`).not.toContain(part);
    }
  });

  it('prints no key when it is inspected', () => {
    const printed = inspect([keys(`a:${K1}`), codec(`a:${K1}`)], { depth: null, showHidden: true });
    const raw = Buffer.from(K1, 'base64');
    for (const form of [K1, raw.toString('hex'), raw.toString('latin1')]) expect(printed).not.toContain(form);
    expect(JSON.stringify(keys(`a:${K1}`))).not.toContain(K1);
  });
});
