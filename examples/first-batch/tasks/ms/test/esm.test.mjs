/**
 * The check of the conversation "esm-entry": the package can be imported, and required as before.
 * It must not depend on anything but Node.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import test from 'node:test';

const require = createRequire(import.meta.url);
const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
/** The package by its own name, as its users load it. */
const load = () => import(manifest.name);

test('the default export is the function that require() gives', async () => {
  const { default: ms } = await load();
  assert.equal(ms, require('../index.js'));
  assert.equal(ms('2 days'), 172_800_000);
});

test('parse takes text and gives milliseconds', async () => {
  const { parse } = await load();
  assert.equal(parse('1.5h'), 5_400_000);
  assert.equal(parse('-3 min'), -180_000);
  assert.ok(Number.isNaN(parse('soon')), 'a text that is no duration gives NaN');
  assert.throws(() => parse(60_000), TypeError);
});

test('format takes milliseconds and gives text', async () => {
  const { format } = await load();
  assert.equal(format(60_000), '1m');
  assert.equal(format(120_000, { long: true }), '2 minutes');
  assert.throws(() => format('1m'), TypeError);
});

test('both entries are published', () => {
  assert.ok(manifest.files.includes('index.js') && manifest.files.includes('index.mjs'));
  assert.equal(require(manifest.name)('1s'), 1000);
});
