/** Replies that are coded although no caller requested it: passed on as they came, read for their usage (D26). */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { DECODED_BYTES_MAX } from '../../proxy/limits.ts';
import { answerBytes, sendForBytes } from './hostile-gateway.ts';
import { GATEWAY_KEY, send, startProxy, STREAM_BODY } from './proxy-under-test.ts';
import { CONTENT_FRAMES, REPLY, startStubGateway, STREAM } from './stub-gateway.ts';

type Code = (bytes: Buffer) => Buffer;
const CODINGS: readonly [string, Code][] = [
  ['gzip', (bytes) => gzipSync(bytes)],
  ['X-GZIP', (bytes) => gzipSync(bytes)],
  ['br', (bytes) => brotliCompressSync(bytes)],
  ['deflate', (bytes) => deflateSync(bytes)],
  ['deflate', (bytes) => deflateRawSync(bytes)],
  ['gzip, br', (bytes) => brotliCompressSync(gzipSync(bytes))],
];
const EVENTS = { 'content-type': 'text/event-stream' };

const zstd = (name: string): Buffer =>
  readFileSync(path.join(import.meta.dirname, '../clients/gateway/fixtures/zstd', `${name}.zst`));

describe('a reply in zstd', () => {
  it('is passed on as it came and counted, and one that breaks off is cut', async () => {
    const headers = { 'content-encoding': 'zstd' };
    const gateway = await startStubGateway(answerBytes(zstd('reply'), headers));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    expect((await sendForBytes(url)).bytes.equals(zstd('reply'))).toBe(true);
    gateway.answer = answerBytes(zstd('stream'), { ...EVENTS, ...headers });
    expect((await sendForBytes(url, STREAM_BODY)).bytes.equals(zstd('stream'))).toBe(true);
    gateway.answer = answerBytes(zstd('stream').subarray(0, -500), { ...EVENTS, ...headers });
    expect((await sendForBytes(url, STREAM_BODY)).isCut).toBe(true);
    gateway.answer = answerBytes(zstd('bomb'), headers);
    expect((await sendForBytes(url)).bytes.equals(zstd('bomb'))).toBe(true);
    expect((await rows()).map((row) => [row.state, row.promptTokens, row.completionTokens])).toEqual([
      ['succeeded', 10, 40],
      ['succeeded', 7, 9_000],
      ['cut', null, null],
      ['succeeded', null, null],
    ]);
  });
});

describe('a coded reply', () => {
  it('is asked not to be', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    await send({ url, headers: { 'accept-encoding': 'gzip, br' } });
    expect(gateway.seen[0]?.headers['accept-encoding']).toBe('identity');
  });

  it.each(CODINGS)('of %s is passed on as it came and counted', async (coding, code) => {
    const [plain, stream] = [code(Buffer.from(REPLY)), code(Buffer.from(STREAM))];
    const gateway = await startStubGateway(answerBytes(plain, { 'content-encoding': coding }));
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await sendForBytes(url);
    expect([received.status, received.headers['content-encoding']]).toEqual([200, coding]);
    expect(received.bytes.equals(plain)).toBe(true);
    gateway.answer = answerBytes(stream, { ...EVENTS, 'content-encoding': coding });
    const streamed = await sendForBytes(url, STREAM_BODY);
    expect([streamed.headers['content-type'], streamed.bytes.equals(stream)]).toEqual([
      'text/event-stream',
      true,
    ]);
    expect((await rows()).map((row) => [row.state, row.promptTokens, row.cachedTokens])).toEqual([
      ['succeeded', 10, 4],
      ['succeeded', 7, null],
    ]);
  });

  it('of an error keeps its bytes, and is rewritten where it must be', async () => {
    const gateway = await startStubGateway();
    const { url } = await startProxy({ origin: gateway.origin });
    const coded = (text: string): Buffer => gzipSync(Buffer.from(text));
    const envelope = coded('{"error":{"message":"slow down","code":"429"}}');
    gateway.answer = answerBytes(envelope, { 'content-encoding': 'gzip', 'retry-after': '7' }, 429);
    const kept = await sendForBytes(url);
    expect([kept.status, kept.headers['content-encoding'], kept.headers['retry-after']]).toEqual([
      ...[429, 'gzip', '7'],
    ]);
    expect(kept.bytes.equals(envelope)).toBe(true);
    const table: readonly [Buffer, string, string][] = [
      [coded('<html>Bad Gateway</html>'), 'gzip', '<html>Bad Gateway</html>'],
      [coded(`{"error":{"message":"bad key ${GATEWAY_KEY}"}}`), 'gzip', 'bad key [redacted]'],
      [Buffer.from([1, 2, 3]), 'compress', 'cannot be read: its content-encoding is "compress"'],
    ];
    for (const [bytes, coding, message] of table) {
      gateway.answer = answerBytes(bytes, { 'content-encoding': coding }, 502);
      const received = await send({ url });
      expect([received.status, received.headers['content-encoding']]).toEqual([502, undefined]);
      expect(received.json().error.message).toContain(message);
    }
  });

  it('with an error at its start has the status of it, also for the next try', async () => {
    const error = 'data: {"error":{"message":"busy","code":"rate_limit_exceeded"}}\n\n';
    const gateway = await startStubGateway();
    gateway.answer = answerBytes(gzipSync(error), { ...EVENTS, 'content-encoding': 'gzip' });
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const received = await send({ url, body: STREAM_BODY });
    expect([received.status, received.json().error.code]).toEqual([429, 'rate_limit_exceeded']);
    expect((await rows())[0]?.state).toBe('failed');
  });

  it('that breaks off is cut, before its first frame and behind it', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const headers = { 'content-encoding': 'gzip' };
    gateway.answer = answerBytes(gzipSync(Buffer.from(REPLY)).subarray(0, -20), headers);
    expect((await send({ url })).json().error.code).toBe('gateway_failed');
    gateway.answer = answerBytes(gzipSync(CONTENT_FRAMES[0] ?? ''), { ...EVENTS, ...headers });
    expect((await sendForBytes(url, STREAM_BODY)).isCut).toBe(true);
    gateway.answer = answerBytes(gzipSync(''), { ...EVENTS, ...headers });
    expect((await send({ url, body: STREAM_BODY })).status).toBe(502);
    expect((await rows()).map((row) => row.state)).toEqual(['cut', 'cut', 'cut']);
  });

  it('that nobody can read, or that is too large, goes on as it came without tokens', async () => {
    const gateway = await startStubGateway();
    const { url, rows } = await startProxy({ origin: gateway.origin });
    const bomb = gzipSync(Buffer.alloc(DECODED_BYTES_MAX + 1, ' '));
    for (const [bytes, coding] of [
      [Buffer.from('odd bytes'), 'compress'],
      [Buffer.from('no gzip'), 'gzip'],
      [bomb, 'gzip'],
    ] as const) {
      gateway.answer = answerBytes(bytes, { 'content-encoding': coding });
      const received = await sendForBytes(url);
      expect([received.status, received.bytes.equals(bytes)]).toEqual([200, true]);
    }
    for (const row of await rows()) expect(row).toMatchObject({ state: 'succeeded', promptTokens: null });
  });
});
