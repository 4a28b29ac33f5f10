/**
 * Bodies that the program zstd made, read with whatever this Node has: its own decoder, or the one that is loaded.
 * `stream` has several blocks and no checksum, `reply` came from a pipe and does not say its length, `sized` does, and
 * `bomb` is 40 MB of zeros.
 */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { decodedBody, readyCodings } from '../../../clients/gateway/content-coding.ts';
import { walkFrames } from '../../../clients/gateway/zstd-frames.ts';

const made = (name: string): Buffer =>
  readFileSync(path.join(import.meta.dirname, 'fixtures/zstd', `${name}.zst`));
const MIB = 1024 * 1024;
const decoded = (bytes: Buffer, more: { bytesMax?: number; mustBeWhole?: boolean } = {}): string | null =>
  decodedBody({ bytes, coding: 'zstd', bytesMax: 32 * MIB, ...more })?.toString('utf8') ?? null;

beforeAll(readyCodings);

describe('a body in zstd', () => {
  it('is read whole, of one frame or of several, with what is to be skipped between them', () => {
    expect(JSON.parse(decoded(made('reply')) ?? '')).toMatchObject({ usage: { prompt_tokens: 10 } });
    expect(decoded(made('sized'), { mustBeWhole: true })).toBe(decoded(made('reply')));
    const note = Buffer.from('502a4d18030000006162630d', 'hex').subarray(0, 11);
    const twice = Buffer.concat([made('reply'), note, made('sized')]);
    expect(decoded(twice)).toBe(`${decoded(made('reply'))}${decoded(made('sized'))}`);
    const stream = decoded(made('stream')) ?? '';
    expect(stream.endsWith('data: [DONE]\n\n')).toBe(true);
    expect(stream.match(/^data: /gm)).toHaveLength(9_002);
  });

  it('that was cut gives the blocks that came, wherever it was cut, and nothing where it must be whole', () => {
    const bytes = made('stream');
    const whole = decoded(bytes) ?? '';
    let longest = 0;
    for (let length = 0; length < bytes.length; length += 97) {
      const part = decoded(bytes.subarray(0, length));
      expect(part === null || whole.startsWith(part), `${length} bytes`).toBe(true);
      longest = Math.max(longest, part?.length ?? 0);
      expect(decoded(bytes.subarray(0, length), { mustBeWhole: true })).toBeNull();
    }
    expect(longest).toBeGreaterThan(100_000);
    expect(longest).toBeLessThan(whole.length);
    const sized = made('sized');
    expect(decoded(Buffer.concat([sized, sized.subarray(0, 30)]))).toBe(decoded(sized));
  });

  it('that is broken is never read as something else', () => {
    const bytes = made('reply');
    const whole = decoded(bytes);
    let refused = 0;
    for (let at = 0; at < bytes.length; at += 1) {
      const broken = Buffer.from(bytes);
      broken[at] = (broken[at] ?? 0) ^ 0x55;
      const read = decoded(broken, { mustBeWhole: true });
      // One byte says no more than how far back the others may point.
      expect([null, whole], `byte ${at}`).toContain(read);
      refused += Number(read === null);
    }
    expect(refused).toBeGreaterThan(bytes.length - 5);
    expect(decoded(Buffer.from('no zstd at all, and longer than a header'))).toBeNull();
    // What was broken before leaves the decoder as it was.
    expect(decoded(bytes)).toBe(whole);
  });

  it('that would become too large is not made so', () => {
    expect(decoded(made('bomb'))).toBeNull();
    expect(decoded(made('bomb'), { bytesMax: 64 * MIB })).toHaveLength(40_000_000);
    const many = Buffer.concat(Array.from({ length: 200 }, () => made('bomb')));
    const before = process.memoryUsage().rss;
    expect(decoded(many)).toBeNull();
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * MIB);
  });

  it('has bounds that its frames tell', () => {
    expect(walkFrames(made('bomb'))).toMatchObject({ isWhole: true });
    expect(walkFrames(made('bomb'))?.plainBytesMax).toBeGreaterThanOrEqual(40_000_000);
    expect(walkFrames(made('stream').subarray(0, -1))?.isWhole).toBe(false);
    expect(walkFrames(Buffer.alloc(0))).toMatchObject({ isWhole: false, plainBytesMax: 0 });
  });
});
