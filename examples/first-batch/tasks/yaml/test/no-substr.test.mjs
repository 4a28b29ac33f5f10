/**
 * The check of the conversation "replace-substr": no call of substr is left, the package behaves as before, and the
 * commit proves where it comes from. It must not depend on anything but Node and Git.
 */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import test from 'node:test';
import { pathToFileURL } from 'node:url';

const ROOT = path.dirname(import.meta.dirname);
const BUILDS = { node: 'dist/index.js', browser: 'browser/dist/index.js' };

function sources(folder) {
  return readdirSync(path.join(ROOT, folder), { recursive: true })
    .filter((name) => name.endsWith('.js'))
    .map((name) => path.join(ROOT, folder, name));
}

function git(...args) {
  return execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).trim();
}

test('no call of substr is left', () => {
  const left = ['dist', 'browser']
    .flatMap(sources)
    .filter((file) => /\bsubstr\b/.test(readFileSync(file, 'utf8')));
  assert.deepEqual(left, []);
});

for (const [build, entry] of Object.entries(BUILDS)) {
  test(`the ${build} build behaves as before`, async () => {
    const { parse, parseDocument, stringify } = await import(pathToFileURL(path.join(ROOT, entry)).href);
    const v11 = { version: '1.1' };

    assert.deepEqual(parse('a: [1, two]\nb: {c: "\\u00e9\\x41"}\n'), { a: [1, 'two'], b: { c: 'éA' } });
    assert.equal(parse('first\n---x\n'), 'first ---x');
    assert.equal(parse('text: |\n  a\n  b\n...\n').text, 'a\nb\n');
    assert.match(parseDocument('"\\q"').errors[0].message, /Invalid escape sequence \\q/);
    assert.match(parseDocument('"a\\uZZZZb"').errors[0].message, /Invalid escape sequence \\uZZZZ/);

    const escaped = stringify('\u0000\u001f\ud800 x', { defaultStringType: 'QUOTE_DOUBLE' });
    assert.equal(escaped, '"\\0\\x1f\\ud800 x"\n');

    assert.equal(parse('2001-12-14t21:59:43.1234Z', v11).getTime(), Date.UTC(2001, 11, 14, 21, 59, 43, 123));
    const negative = parseDocument('-0xff', v11);
    assert.equal(String(negative), '-0xff\n');

    const bytes = new Uint8Array(120).fill(7);
    const lines = stringify({ bytes }, v11).split('\n').slice(1, -1);
    assert.equal(lines.length, 3);
    assert.ok(lines.slice(0, -1).every((line) => line.length === lines[0].length));
    assert.deepEqual(Uint8Array.from(parse(stringify({ bytes }, v11), v11).bytes), bytes);
  });
}

test('the commit carries a proof', () => {
  const proof = git('log', '-1', '--format=%(trailers:key=Review-Proof,valueonly)');
  assert.match(proof, /^[0-9a-f]{64}$/);
  const key = process.env.REVIEW_TOKEN;
  if (key === undefined) return;
  const tree = git('rev-parse', 'HEAD^{tree}');
  assert.equal(proof, createHmac('sha256', key).update(tree).digest('hex'));
});
