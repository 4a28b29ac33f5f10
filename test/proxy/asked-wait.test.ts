/** Waiting times as gateways write them: seconds, milliseconds, dates, and the ends of limits (D22). */
import { describe, expect, it } from 'vitest';
import { lengthMs, retryAfterMs } from '../../core/retry-after.ts';
import { askedWaitMs } from '../../proxy/asked-wait.ts';

const NOW = Date.UTC(2026, 0, 2, 3, 4, 5);
const inSeconds = (seconds: number): string => new Date(NOW + seconds * 1_000).toUTCString();

describe('retryAfterMs()', () => {
  it.each([
    ['7', 7_000],
    [' 0 ', 0],
    ['0.25', 250],
    [inSeconds(90), 90_000],
    [inSeconds(-90), 0],
    ['Friday, 02-Jan-26 03:04:10 GMT', 5_000],
    ['Fri Jan  2 03:04:10 2026', 5_000],
    ['2026-01-02T03:04:10Z', 5_000],
    ['', null],
    ['soon', null],
    ['-5', null],
    ['May', null],
    [undefined, null],
  ])('reads %j', (text, expected) => expect(retryAfterMs(text, NOW)).toBe(expected));
});

it.each([
  ['120ms', 120],
  ['8.64s', 8_640],
  ['6m0s', 360_000],
  ['1h2m3.5s', 3_723_500],
  ['5', null],
  ['s', null],
])('lengthMs() reads %j', (text, expected) => expect(lengthMs(text)).toBe(expected));

describe('askedWaitMs()', () => {
  const left = (requests: string, tokens: string): Record<string, string> => ({
    'x-ratelimit-remaining-requests': requests,
    'x-ratelimit-remaining-tokens': tokens,
  });
  const resets = { 'x-ratelimit-reset-requests': '6m0s', 'x-ratelimit-reset-tokens': '120ms' };

  it.each([
    ['milliseconds before seconds', { 'retry-after-ms': '40', 'retry-after': '1' }, 40],
    ['seconds where the milliseconds are none', { 'retry-after-ms': '', 'retry-after': '1' }, 1_000],
    [
      'a date by the clock of the gateway',
      { 'retry-after': inSeconds(3_605), date: inSeconds(3_600) },
      5_000,
    ],
    ['a date by our clock', { 'retry-after': inSeconds(5) }, 5_000],
    ['the limit that is used up', { ...resets, ...left('10', '0') }, 120],
    ['the later of two', { ...resets, ...left('0', '0') }, 360_000],
    ['the later of two of which nothing is said', resets, 360_000],
    ['the first where none is used up', { ...resets, ...left('3', '9') }, 120],
    ['a number of seconds', { 'x-ratelimit-reset': '4' }, 4_000],
    ['a number of milliseconds', { 'x-ratelimit-reset-after-ms': '4' }, 4],
    ['a moment in seconds', { 'x-ratelimit-reset': String(NOW / 1_000 + 4) }, 4_000],
    ['a moment in milliseconds', { 'x-ratelimit-reset': String(NOW + 4) }, 4],
    ['a moment as a date', { 'anthropic-ratelimit-requests-reset': '2026-01-02T03:04:10Z' }, 5_000],
    ['nothing', { 'x-ratelimit-limit-requests': '5' }, null],
  ])('reads %s', (_, headers, expected) => expect(askedWaitMs(429, headers, NOW)).toBe(expected));

  it('leaves the ends of limits alone where they are not the reason', () => {
    expect(askedWaitMs(503, resets, NOW)).toBeNull();
    expect(askedWaitMs(503, { ...resets, 'retry-after': '2' }, NOW)).toBe(2_000);
  });
});
