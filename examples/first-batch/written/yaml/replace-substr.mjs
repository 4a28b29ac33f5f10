/**
 * Rewrites `x.substr(start, length)` as `x.slice(start, end)` in the built sources of the current folder.
 * Written for this code base: it stops at a call whose arguments it cannot read, and is not kept.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import process from 'node:process';

const CALL = /\.substr\(([^(),]+)(?:, ([^(),]+))?\)/g;

/** `a + 2` and `4` give `a + 6`; `a - 1` and `1` give `a`; what is no number is added as text. */
function endOf(start, length) {
  const [, base, sign = '+', digits = '0'] = /^(.*?)(?: ([+-]) (\d+))?$/.exec(start);
  const [, name, more] = /^(\w+)(?: \+ (\d+))?$/.exec(length) ?? [];
  const offset = Number(`${sign}${digits}`);
  if (/^\d+$/.test(start)) return String(Number(start) + Number(length));
  if (/^\d+$/.test(length)) return sum(base, offset + Number(length));
  return sum(`${base} + ${name}`, offset + Number(more ?? 0));
}

function sum(base, number) {
  if (number === 0) return base;
  return `${base} ${number < 0 ? '-' : '+'} ${Math.abs(number)}`;
}

let count = 0;
for (const folder of ['dist', 'browser']) {
  for (const name of readdirSync(folder, { recursive: true })) {
    if (!name.endsWith('.js')) continue;
    const file = path.join(folder, name);
    const before = readFileSync(file, 'utf8');
    const after = before.replace(CALL, (call, start, length) => {
      count += 1;
      return length === undefined ? `.slice(${start})` : `.slice(${start}, ${endOf(start, length)})`;
    });
    if (after.includes('.substr(')) throw new Error(`Cannot rewrite "${file}": a call is too complex`);
    if (after !== before) writeFileSync(file, after);
  }
}
process.stdout.write(`${count} calls rewritten\n`);
