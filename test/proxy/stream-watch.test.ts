/** Frames and the withheld usage frame, split at every byte. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CHAT } from '../../proxy/relay/relay-kind.ts';
import { FRAME_BYTES_MAX } from '../../proxy/limits.ts';
import { cutFrames, FrameSplitter } from '../../proxy/relay/sse-frames.ts';
import { StreamWatch } from '../../proxy/relay/stream-watch.ts';
import { CONTENT_FRAMES, DONE_FRAME, STREAM } from './stub-gateway.ts';

function watched(pieces: readonly Buffer[], isUsageShown: boolean): { text: string; watch: StreamWatch } {
  const watch = new StreamWatch({ isUsageShown, kind: CHAT });
  const out = pieces.flatMap((piece) => watch.push(piece));
  return { text: Buffer.concat([...out, watch.flush()]).toString('utf8'), watch };
}

describe('StreamWatch', () => {
  const bytes = Buffer.from(STREAM);
  const hidden = [...CONTENT_FRAMES, DONE_FRAME].join('');

  it('gives the same for a split at any byte, in either form of line end', () => {
    const plain = STREAM.replaceAll('\r\n', '\n');
    for (const text of [STREAM, plain.replaceAll('\n', '\r\n'), plain.replaceAll('\n', '\r')]) {
      const whole = Buffer.from(text);
      const once = watched([whole], false).text;
      for (let at = 0; at <= whole.length; at += 1) {
        const { text: split, watch } = watched([whole.subarray(0, at), whole.subarray(at)], false);
        expect(split).toBe(once);
        expect(watch).toMatchObject({ isDone: true, responseId: 'resp-s', error: null });
        expect(watch.usage).toMatchObject({ promptTokens: 7, completionTokens: 2 });
      }
      expect(once).not.toContain('"prompt_tokens"');
    }
    expect(watched([bytes], false).text).toBe(hidden);
  });

  it('gives the same for any split into many pieces', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: bytes.length }), { maxLength: 40 }),
        fc.boolean(),
        (cuts, isShown) => {
          const borders = [0, ...cuts.sort((a, b) => a - b), bytes.length];
          const pieces = borders.slice(1).map((end, i) => bytes.subarray(borders[i], end));
          expect(watched(pieces, isShown).text).toBe(isShown ? STREAM : hidden);
        },
      ),
    );
  });
});

describe('what is withheld', () => {
  const usage = '"usage":{"prompt_tokens":7}';
  const frame = (members: string): string => `data: {"id":"r",${members}}\n\n`;

  it.each([
    [
      'usage alone',
      frame(`"object":"chat.completion.chunk","created":1,"model":"m","choices":[],${usage}`),
      true,
    ],
    [
      'usage with an empty choice',
      frame(`"choices":[{"index":0,"delta":{},"finish_reason":null}],${usage}`),
      true,
    ],
    ['fields that are null', frame(`"choices":[],"error":null,"citations":null,${usage}`), true],
    ['what only pads', frame(`"choices":[],"service_tier":"default","obfuscation":"xyz",${usage}`), true],
    ['citations', frame(`"choices":[],"citations":["https://a.example"],${usage}`), false],
    ['a provider', frame(`"choices":[],"provider":"acme",${usage}`), false],
    ['an error', frame(`"choices":[],"error":{"message":"lost"},${usage}`), false],
    [
      'what stands in a choice',
      frame(`"choices":[{"index":0,"delta":{},"content_filter":{}}],${usage}`),
      false,
    ],
    ['a role', frame(`"choices":[{"index":0,"delta":{"role":"assistant"}}],${usage}`), false],
    ['no usage', frame('"choices":[],"prompt_filter_results":[]'), false],
  ])('%s', (_, text, isWithheld) => {
    expect(watched([Buffer.from(text)], false).text).toBe(isWithheld ? '' : text);
    expect(watched([Buffer.from(text)], true).text).toBe(text);
  });
});

describe('FrameSplitter', () => {
  it('loses no byte of any stream', () => {
    const piece = fc
      .array(fc.constantFrom('\n', '\r', '\r\n', 'data: x', ':', 'é'), { maxLength: 8 })
      .map((parts) => Buffer.from(parts.join('')));
    fc.assert(
      fc.property(fc.array(piece), (pieces) => {
        const splitter = new FrameSplitter();
        const whole = pieces.map((chunk) => splitter.push(chunk));
        expect(Buffer.concat([...whole, splitter.flush()])).toEqual(Buffer.concat(pieces));
        for (const bytes of whole) expect(Buffer.concat([...cutFrames(bytes)])).toEqual(bytes);
      }),
    );
  });

  it('lets a frame without an end through rather than keep it', () => {
    const splitter = new FrameSplitter();
    expect(splitter.push(Buffer.alloc(FRAME_BYTES_MAX, 'a'))).toHaveLength(0);
    expect(splitter.push(Buffer.from('b'))).toHaveLength(FRAME_BYTES_MAX + 1);
    expect(splitter.flush()).toHaveLength(0);
  });
});
