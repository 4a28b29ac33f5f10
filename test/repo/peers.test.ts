/** Breaks the law about what peers send on made-up trees. */
import { describe, expect, it } from 'vitest';
import { peers } from './laws/peers.ts';
import { madeUp } from './tree.ts';

const NET = "import { connect } from 'node:net';\n";
const HTTP = "import { request as ask } from 'node:http';\n";

function found(text: string, file = 'api/a.ts'): readonly string[] {
  return peers(madeUp({ [file]: text })).map((one) => one.split(': ')[1]?.split(';')[0] ?? '');
}

describe('what peers send', () => {
  it.each([
    [`${NET}function f() { const s = connect('x'); s.once('error', g); }`, 'its errors end the process'],
    [`${HTTP}const call = ask({}); call.end();`, 'its errors end the process'],
    [`${NET}take(connect('x')); function take(s) { s.end(); }`, 'its errors end the process'],
    [
      `${NET}const f = (r) => new URL(r.url, 'http://x');`,
      "new URL(r.url, 'http://x') may throw out of a callback",
    ],
    [`${NET}const f = (r) => decodeURIComponent(r);`, 'decodeURIComponent(r) may throw out of a callback'],
  ])('is refused in %s', (text, what) => {
    expect(found(text)).toEqual([what]);
  });

  it.each([
    `${NET}function f() { const s = connect('x'); s.on('error', g); }`,
    `${NET}take(connect('x')); function take(s) { s.on('error', g); }`,
    `${NET}const f = async (r) => new URL(r.url);`,
    `${NET}const f = (r) => { try { return JSON.parse(r); } catch { return null; } };`,
    `${NET}const f = (t) => (URL.canParse(t) ? new URL(t) : null);`,
    "const f = (r) => new URL(r.url, 'http://x');",
  ])('is taken in %s', (text) => {
    expect(found(text)).toEqual([]);
  });

  it('concerns the host only', () => {
    expect(found(`${NET}const s = connect('x');`, 'agent/a.ts')).toEqual([]);
  });
});
