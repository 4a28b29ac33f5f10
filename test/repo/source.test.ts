/** Breaks the laws about one source file on made-up trees: sizes, shape, banned calls and words. */
import { describe, expect, it } from 'vitest';
import { consoleKeepsToItself } from './laws/console.ts';
import { bannedCalls, chanceIsSeeded } from './laws/banned-calls.ts';
import { headers, meaningfulNames, namedExports } from './laws/shape.ts';
import { publicExportsDocumented, rooms } from './laws/rooms.ts';
import { fileSizes, functionSizes } from './laws/sizes.ts';
import { bannedWords } from './laws/words.ts';
import { madeUp } from './tree.ts';

const lines = (count: number): string => 'x;\n'.repeat(count);

describe('sizes', () => {
  it('refuses a file of 301 lines, and a test file of 401', () => {
    const tree = madeUp({
      'core/fits.ts': lines(300),
      'core/big.ts': lines(301),
      'test/core/fits.test.ts': lines(400),
      'test/core/big.test.ts': lines(401),
      'test/golden/data.ts': lines(1000),
    });
    expect(fileSizes(tree)).toEqual([
      'core/big.ts: 301 lines, at most 300; split it by noun',
      'test/core/big.test.ts: 401 lines, at most 400; split it by noun',
    ]);
  });

  it('refuses a crowd in one folder, and a small file that could be part of its one importer', () => {
    const crowd = Object.fromEntries(Array.from({ length: 26 }, (_, at) => [`store/file-${at}.ts`, '']));
    const uses = (...names: readonly string[]): string => names.map((name) => `import '${name}';\n`).join('');
    const tree = madeUp({
      ...crowd,
      ...Object.fromEntries(Object.keys(crowd).map((name) => [name.replace('store', 'ports'), ''])),
      'core/whole.ts': uses('./part.ts', './tested.ts', './large.ts'),
      'core/part.ts': lines(40),
      'core/tested.ts': lines(40),
      'core/large.ts': lines(41),
      'core/full.ts': uses('./no-room.ts') + lines(260),
      'core/no-room.ts': lines(40),
      'dsl/plan/build-plan.ts': uses('./build-pool.ts'),
      'dsl/plan/build-pool.ts': lines(20),
      'test/core/tested.test.ts': uses('../../core/tested.ts'),
    });
    expect(rooms(tree)).toEqual([
      'store/: 26 files in one flat folder; find the nouns among them',
      'core/part.ts: only core/whole.ts imports it, no test does; make it a part of that',
    ]);
  });

  it('refuses an export of a port without a word, and takes one that the head of its file speaks for', () => {
    const tree = madeUp({
      'ports/said.ts': '/** A. */\nexport interface A {}\n/** B. */\nexport interface B {}\n',
      'ports/single.ts': 'export interface A {}\n',
      'ports/bare.ts': '/** A. */\nexport interface A {}\nexport interface B {}\n',
      'core/bare.ts': 'export const a = 1;\nexport const b = 2;\n',
    });
    expect(publicExportsDocumented(tree)).toEqual([
      'ports/bare.ts:3: an export that others read has no comment above it',
    ]);
  });

  it('refuses a function of 71 lines, however it is written', () => {
    const body = lines(69);
    const tree = madeUp({
      'core/declared.ts': `/** Not counted. */\nfunction fits() {\n${lines(68)}}\nfunction big() {\n${body}}\n`,
      'core/arrow.ts': `const big = () => {\n${body}};\n`,
      'core/method.ts': `class A {\nbig() {\n${body}}\n}\n`,
      'core/inline.ts': `list.map((x) => {\n${body}});\n`,
    });
    expect(functionSizes(tree)).toEqual([
      'core/declared.ts:72: big has 71 lines, at most 70; move a step into a function named after it',
      'core/arrow.ts:1: big has 71 lines, at most 70; move a step into a function named after it',
      'core/method.ts:2: big has 71 lines, at most 70; move a step into a function named after it',
      'core/inline.ts:1: a function has 71 lines, at most 70; move a step into a function named after it',
    ]);
  });

  it('lets the callback of describe be long, in tests only', () => {
    const text = `describe('x', () => {\n${lines(80)}});\nit.each([1])('y', () => {\n${lines(80)}});\n`;
    expect(functionSizes(madeUp({ 'test/a.test.ts': text }))).toEqual([]);
    expect(functionSizes(madeUp({ 'core/a.ts': text }))).toHaveLength(2);
    const suite = (own: number) => `function suite() {\n${text}${lines(own)}}`;
    expect(functionSizes(madeUp({ 'test/contract/a.ts': suite(60) }))).toEqual([]);
    expect(functionSizes(madeUp({ 'test/contract/a.ts': suite(70) }))).toEqual([
      'test/contract/a.ts:1: suite has 74 lines, at most 70; move a step into a function named after it',
    ]);
  });
});

describe('shape', () => {
  it('refuses a file that opens with code, or with a label', () => {
    const paragraph = '/**\n * What this file owns, and what it must not do.\n */\n';
    const tree = madeUp({
      'core/a.ts': `${paragraph}code;`,
      'bin/a.js': `#!/usr/bin/env node\n${paragraph}code;`,
      'core/b.ts': `import { a } from './a.ts';\n${paragraph}`,
      'core/c.ts': '// Types.\ncode;',
    });
    expect(headers(tree)).toEqual([
      'core/b.ts:1: open the file with a paragraph: what it owns and what it must not do',
      'core/c.ts:1: open the file with a paragraph: what it owns and what it must not do',
    ]);
  });

  it('refuses default exports in each of their forms, and leaves configuration files alone', () => {
    const tree = madeUp({
      'core/a.ts': 'export default 1;',
      'core/b.ts': 'export default function b() {}',
      'core/c.ts': 'const c = 1;\nexport { c as default };',
      'vitest.config.ts': 'export default {};',
    });
    expect(namedExports(tree)).toEqual([
      'core/a.ts:1: default export; export it under its name',
      'core/b.ts:1: default export; export it under its name',
      'core/c.ts:2: default export; export it under its name',
    ]);
  });

  it('refuses names that say nothing', () => {
    const tree = madeUp({
      'core/utils.ts': '',
      'cli/helpers/a.ts': '',
      'test/helpers/a.ts': '',
      'core/useful.ts': '',
    });
    expect(meaningfulNames(tree)).toEqual([
      'core/utils.ts: "utils" names nothing; name the file after what it owns',
      'cli/helpers/a.ts: "helpers" names nothing; name the file after what it owns',
    ]);
  });
});

describe('files of components', () => {
  it('obey the laws of every source', () => {
    const long = `function Big() {\n  return (\n    <ul>\n${'      <li />\n'.repeat(67)}    </ul>\n  );\n}\n`;
    const tree = madeUp({ 'web/utils.tsx': `${long}export default Big;\n` });
    expect(headers(tree)).toHaveLength(1);
    expect(namedExports(tree)).toHaveLength(1);
    expect(meaningfulNames(tree)).toHaveLength(1);
    expect(functionSizes(tree)).toEqual([
      'web/utils.tsx:1: Big has 73 lines, at most 70; move a step into a function named after it',
    ]);
  });
});

describe('consoleKeepsToItself()', () => {
  it('refuses markup made of text, other hosts, and a key that is kept, in the console alone', () => {
    const tree = madeUp({
      'web/a.tsx': `<p dangerouslySetInnerHTML={{ __html: text }} />`,
      'web/b.ts': `localStorage.setItem('key', key);`,
      'web/c.css': `@import 'https://fonts.example.com/a.css';`,
      'web/d.svg': `<svg xmlns="http://www.w3.org/2000/svg" />`,
      'cli/e.ts': `// see https://example.com`,
    });
    expect(consoleKeepsToItself(tree)).toEqual([
      'web/a.tsx:1: markup made of text; draw elements',
      'web/b.ts:1: kept beyond the tab; use session/key-memory.ts',
      'web/c.css:1: an address of another host; serve it from web/',
    ]);
  });
});

describe('chanceIsSeeded()', () => {
  it('finds chance without a seed in tests and benches, and leaves the product alone', () => {
    const text = 'const x = 1;\nconst y = Math.random();';
    expect(chanceIsSeeded(madeUp({ 'test/a.ts': text, 'bench/b.ts': text, 'cli/c.ts': text }))).toEqual([
      'test/a.ts:2: Math.random; draw it from a RandomStream and a listed seed',
      'bench/b.ts:2: Math.random; draw it from a RandomStream and a listed seed',
    ]);
    expect(chanceIsSeeded(madeUp({ 'test/a.ts': "spyOn(Math, 'random');" }))).toEqual([]);
  });
});

describe('bannedCalls()', () => {
  it.each([
    ['Date.now();', 'Date.now; take `now` as a parameter'],
    ['new Date();', 'new Date(); take `now` as a parameter'],
    ['Math.random();', 'Math.random; take the value in an event, or derive it from an id'],
    ['setTimeout(f, 1);', 'setTimeout; name the instant in `deadline(state)`'],
    ['const later = setInterval;', 'setInterval; name the instant in `deadline(state)`'],
    ['process.env.X;', 'process; take the value as a parameter'],
    ['console.log(1);', 'console; return the fact as data'],
    [`require('x');`, 'require; import a file of core/ or dsl/'],
    ['crypto.randomUUID();', 'crypto; take the id in an event, or the hash function as a parameter'],
    ['globalThis.crypto;', 'crypto; take the id in an event, or the hash function as a parameter'],
    ['performance.now();', 'performance; take `now` as a parameter'],
    ['await x;', 'await or async; return a command, its answer comes back as an event'],
    ['const f = async () => 1;', 'await or async; return a command, its answer comes back as an event'],
    [`import fs from 'node:fs';`, 'import of node:fs; state what is needed as a port'],
    [`import { join } from 'path';`, 'import of path; state what is needed as a port'],
  ])('refuses %s in core/', (text, problem) => {
    expect(bannedCalls(madeUp({ 'core/a.ts': text }))).toEqual([`core/a.ts:1: ${problem}`]);
  });

  it('refuses them in dsl/ too, where await is allowed', () => {
    expect(bannedCalls(madeUp({ 'dsl/a.ts': 'await x;\nDate.now();' }))).toEqual([
      'dsl/a.ts:2: Date.now; take `now` as a parameter',
    ]);
  });

  it('accepts what only looks like them', () => {
    const text = `state.process; const k = { console: 1, crypto: x }; new Date(ms); Math.max(1); interface A { process: string }`;
    expect(bannedCalls(madeUp({ 'core/a.ts': text, 'cli/a.ts': 'Date.now();' }))).toEqual([]);
  });
});

describe('bannedWords()', () => {
  it.each([
    [
      'core/a.ts',
      `// ${'TO'}DO later`,
      `${'TO'}DO`,
      'a leftover marker; finish it, or say in a sentence what is not done and why',
    ],
    [
      'docs/a.md',
      `${'FIX'}ME`,
      `${'FIX'}ME`,
      'a leftover marker; finish it, or say in a sentence what is not done and why',
    ],
    [
      'docs/a.md',
      `see /${'work'}/main`,
      `/${'work'}/`,
      'an absolute path of one machine; derive it from import.meta or a temporary folder',
    ],
    ['test/a.test.ts', `'/${'root'}/x'`, `/${'root'}/`, 'an absolute path of one machine; use os.homedir()'],
    [
      'cli/a.ts',
      `'/${'home'}/ann/x'`,
      `/${'home'}/ann/`,
      'an absolute path of one machine; use os.homedir()',
    ],
    [
      '.ci/run',
      `https://registry.${'npmjs'}.org`,
      `registry.${'npmjs'}`,
      'the host of a package registry; leave the choice to the package manager',
    ],
    [
      'docs/a.md',
      `see ../${'shared'}/x`,
      `../${'shared'}`,
      'a folder outside the repository; restate what is needed here',
    ],
    ...[`// ${'who'}ever asks`, `/** For ${'some'}body else. */`, ` * ${'No'}body knows.`].map((text) => [
      'core/a.ts',
      text,
      text.slice(0, text.search(/body|ever/) + 4),
      'an actor without a name in a comment; say who it is',
    ]),
    ...[`Conversation${'Birth'}`, `${'let'}terOf`, `is${'Born'}`, `Item${'Wish'}es`, `${'Announ'}cer`].map(
      (name) => [
        'core/a.ts',
        `type A = ${name};`,
        name,
        'a word of a dialect; docs/glossary.md has the one that is used',
      ],
    ),
  ])('refuses in %s: %s', (path, text, hit, problem) => {
    expect(bannedWords(madeUp({ [path]: text }))).toEqual([`${path}:1: "${hit}" is ${problem}`]);
  });

  it('accepts parts of other words, strings and relative paths', () => {
    const text = `mkdtemp('${'X'}XXXXX'); './${'work'}/a'; 'net${'work'}/x'; '\${dir}/${'root'}/x'`;
    expect(bannedWords(madeUp({ 'core/a.ts': text, 'test/a.ts': `'/${'home'}/ann/x'` }))).toEqual([]);
    const prose = `// lower-case letters, reborn, as it wishes\nconst NOBODY = '${'no'}body';`;
    expect(bannedWords(madeUp({ 'docs/a.md': `Run${'Birth'}`, 'core/b.ts': prose }))).toEqual([]);
  });
});
