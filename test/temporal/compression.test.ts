/** Large payloads are compressed and come back; what is no payload of ours cannot fill the memory. */
import { createCipheriv, createSecretKey, randomBytes } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { Payload } from '@temporalio/common';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { startCodecServer, payloadsToJson } from '../../cli/codec/codec-server.ts';
import { parseCodecKeys } from '../../temporal/codec/codec-keys.ts';
import { COMPRESSED_ENCODING, isCompressed, OPENED_BYTES_MAX } from '../../temporal/codec/compression.ts';
import { dataConverterOf } from '../../temporal/codec/data-converter.ts';
import { payloadToBytes } from '../../temporal/codec/payload-bytes.ts';
import { isEncrypted, payloadCodecOf } from '../../temporal/codec/payload-codec.ts';
import type { Carried } from '../../workflows/envelope.ts';
import { largeRun } from './large-run.ts';

const KEY = randomBytes(32);
const sealing = payloadCodecOf(parseCodecKeys(`a:${KEY.toString('base64')}`));
const open = payloadCodecOf(null);
const CODECS = { 'without keys': open, 'with a key': sealing } as const;

const MIB = 1024 * 1024;

function json(value: unknown): Payload {
  return { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from(JSON.stringify(value)) };
}

async function encodeOne(by: typeof open, payload: Payload): Promise<Payload> {
  const [encoded] = await by.encode([payload]);
  if (encoded === undefined) throw new Error('nothing came back');
  return encoded;
}

const sizeOf = (payload: Payload): number => payloadToBytes(payload).length;

/** As an object of plain texts, whatever class its bytes are of. */
function plain({ metadata, data }: Payload): unknown {
  const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
  const entries = Object.entries(metadata ?? {}).map(([name, value]) => [name, hex(value)]);
  return { metadata: entries.sort(), data: hex(data ?? new Uint8Array(0)) };
}

/** Small and large, with little in it and much, and with marks of every kind. */
const aPayload: fc.Arbitrary<Payload> = fc
  .record({
    encoding: fc.constantFrom('json/plain', 'binary/plain', COMPRESSED_ENCODING, 'binary/encrypted'),
    length: fc.oneof(fc.nat(200), fc.integer({ min: 8_000, max: 60_000 })),
    seed: fc.uint8Array({ minLength: 1, maxLength: 64 }),
    isRandom: fc.boolean(),
  })
  .map(({ encoding, length, seed, isRandom }) => ({
    metadata: { encoding: Buffer.from(encoding) },
    data: isRandom ? randomBytes(length) : Buffer.alloc(length, seed),
  }));

describe.each(Object.entries(CODECS))('payload codec %s, on large payloads', (name, codec) => {
  const hasKey = codec === sealing;

  it('gives every payload back as it was, whatever its mark', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(aPayload, { maxLength: 4 }), async (payloads) => {
        // Without keys an encrypted payload is a mistake, and an error.
        const mine = hasKey ? payloads : payloads.filter((payload) => !isEncrypted(payload));
        expect((await codec.decode(await codec.encode(mine))).map(plain)).toEqual(mine.map(plain));
      }),
    );
  });

  it('makes a large one smaller, and says so where it is not encrypted', async () => {
    const large = json(Array.from({ length: 2_000 }, (_, index) => ({ index, state: 'waiting' })));
    const encoded = await encodeOne(codec, large);
    expect(sizeOf(encoded)).toBeLessThan(sizeOf(large) / 4);
    expect([isCompressed(encoded), isEncrypted(encoded)]).toEqual(hasKey ? [false, true] : [true, false]);
    if (!hasKey) expect(Object.keys(encoded.metadata ?? {})).toEqual(['encoding']);
  });

  it('never makes one longer by compressing it', async () => {
    const overhead = hasKey ? 140 : 0;
    for (const payload of [json('x'), json('x'.repeat(8_000)), json(randomBytes(20_000).toString('latin1'))])
      expect(sizeOf(await encodeOne(codec, payload))).toBeLessThanOrEqual(sizeOf(payload) + overhead);
  });

  it('keeps a run of 10,000 items under 1.5 MB', async () => {
    const seen = Array.from({ length: 256 }, () => randomBytes(20).toString('hex'));
    const carried: Carried = { version: 1, state: largeRun(10_000), out: [], seen, batch: 100_000 };
    const payload = json({ queue: 'parley', eventsMax: 4_096, shown: '', carried });
    // It would be refused as it is.
    expect(sizeOf(payload)).toBeGreaterThan(4 * MIB);
    const encoded = await encodeOne(codec, payload);
    expect(sizeOf(encoded)).toBeLessThan(1.5e6);
    const [opened] = await codec.decode([encoded]);
    expect(Buffer.compare(Buffer.from(opened?.data ?? []), Buffer.from(payload.data ?? []))).toBe(0);
  });

  it('is what the data converter of clients, workers and replays brings', async () => {
    const keys = hasKey ? parseCodecKeys(`a:${KEY.toString('base64')}`) : null;
    const { payloadCodecs = [] } = dataConverterOf({ keys, failureConverterPath: 'unused' });
    const large = json('large '.repeat(5_000));
    const encoded = await encodeOne(payloadCodecs[0] ?? open, large);
    expect(payloadCodecs, name).toHaveLength(1);
    expect(sizeOf(encoded)).toBeLessThan(sizeOf(large) / 4);
  });
});

describe('payloads of before', () => {
  const large = json('as before '.repeat(3_000));

  it('pass when they are large and not compressed', async () => {
    expect((await open.decode([large])).map(plain)).toEqual([plain(large)]);
    expect((await sealing.decode([large])).map(plain)).toEqual([plain(large)]);
  });

  it('open when they are sealed and not compressed', async () => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv('aes-256-gcm', createSecretKey(KEY), nonce, { authTagLength: 16 });
    cipher.setAAD(Buffer.from(['binary/encrypted', 'aes-256-gcm', 'a'].join('\0')));
    const body = Buffer.concat([cipher.update(payloadToBytes(large)), cipher.final()]);
    const metadata = {
      encoding: Buffer.from('binary/encrypted'),
      'encryption-algorithm': Buffer.from('aes-256-gcm'),
      'encryption-key-id': Buffer.from('a'),
    };
    const old = { metadata, data: Buffer.concat([nonce, body, cipher.getAuthTag()]) };
    expect((await sealing.decode([old])).map(plain)).toEqual([plain(large)]);
  });
});

const marked = (data: Uint8Array): Payload => ({
  metadata: { encoding: Buffer.from(COMPRESSED_ENCODING) },
  data,
});

/** A payload that opens to more than `bytes`; it is a thousandth of that. */
const bomb = (bytes: number): Payload => marked(gzipSync(payloadToBytes({ data: Buffer.alloc(bytes) })));

describe('a compressed payload that is none of ours', () => {
  it(
    'is refused once it has opened to the bound, alone and together with others',
    { timeout: 60_000 },
    async () => {
      const half = bomb(OPENED_BYTES_MAX / 2);
      expect(sizeOf(half)).toBeLessThan(MIB);
      expect((await open.decode([half]))[0]?.data).toHaveLength(OPENED_BYTES_MAX / 2);
      for (const payloads of [[bomb(OPENED_BYTES_MAX)], [half, half], [half, json('small'), half]])
        await expect(open.decode(payloads)).rejects.toMatchObject({
          code: 'payload_unreadable',
          message: `Cannot open a compressed payload: it opens to more than ${OPENED_BYTES_MAX} bytes, and nothing of ours does`,
        });
    },
  );

  it.each([
    ['no gzip', Buffer.from('no gzip at all')],
    ['empty', Buffer.alloc(0)],
    ['cut', gzipSync(payloadToBytes(json('x'.repeat(500)))).subarray(0, 30)],
    ['gzip of something else', gzipSync('no payload')],
  ])('is refused when it is %s', async (_name, data) => {
    await expect(open.decode([marked(data)])).rejects.toMatchObject({
      code: 'payload_unreadable',
      message: 'Cannot open a compressed payload: it was changed, or another program compressed it',
    });
  });
});

describe('the codec server', () => {
  it('opens what is compressed, and refuses what opens to too much', async () => {
    const server = await startCodecServer({
      ...{ codec: sealing, host: '127.0.0.1', port: 0, allowedOrigins: [], token: null },
    });
    onTestFinished(() => server.close());
    const ask = async (payloads: readonly Payload[]): Promise<Response> =>
      fetch(`${server.url}/decode`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(payloadsToJson(payloads)),
      });
    const large = json('large '.repeat(5_000));
    const encoded = [await encodeOne(open, large), await encodeOne(sealing, large)];
    expect(await (await ask(encoded)).json()).toEqual(payloadsToJson([large, large]));
    const refused = await ask([bomb(OPENED_BYTES_MAX)]);
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ code: 'payload_unreadable' });
  });
});
