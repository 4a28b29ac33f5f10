/** Breaks the laws about the pages for new readers on made-up trees. */
import { describe, expect, it } from 'vitest';
import {
  filesNamedExist,
  lawsLookSomewhere,
  namesDeclared,
  pathsExist,
  roomsEnteredOnce,
  roomsTold,
} from './laws/pointers.ts';
import { madeUp } from './tree.ts';

const table = (...rows: readonly string[]) =>
  `| file | function | what |\n| - | - | - |\n${rows.join('\n')}\n`;
const walks = (...rows: readonly string[]) => `# W\n\n## A start\n\n${table(...rows)}`;
const question = (row: string) => `# A\n\n| where do I … | file | there |\n| - | - | - |\n${row}\n`;

describe('pathsExist()', () => {
  const files = { 'core/a.ts': '', 'core/run/b.ts': '' };

  it('takes files and folders, and does not take an address or a file of a user for a path', () => {
    const page = 'See `core/a.ts`, `core/run/`; `job.yaml`, `POST /api/v1/x`, `/gone/x`, `a/b c`.\n';
    expect(pathsExist(madeUp({ ...files, 'docs/walks.md': `# W\n\n${page}` }))).toEqual([]);
  });

  it('refuses a path of the walks or of a question that is not there', () => {
    const tree = madeUp({
      ...files,
      'docs/walks.md': '# W\n\nSee `core/gone.ts` and `gone/`.\n',
      'ARCHITECTURE.md': question('| begin | `core/b.ts` | |'),
    });
    expect(pathsExist(tree)).toEqual([
      'docs/walks.md:3: there is no "core/gone.ts"',
      'docs/walks.md:3: there is no "gone/"',
      'ARCHITECTURE.md:5: there is no "core/b.ts"',
    ]);
  });

  it('holds the steps of a recipe to it, up to what their reader names', () => {
    const steps = ['`core/NAME.ts` and `core/NAME/`', '`gone/NAME.ts`', '`core/gone.ts`'];
    const page = `# C\n\n\`gone/x.ts\`\n\n${steps.map((step, index) => `${index + 1}. ${step}`).join('\n')}\n`;
    expect(pathsExist(madeUp({ ...files, 'CONTRIBUTING.md': page }))).toEqual([
      'CONTRIBUTING.md:6: there is no "gone/"',
      'CONTRIBUTING.md:7: there is no "core/gone.ts"',
    ]);
  });
});

describe('namesDeclared()', () => {
  const text = `
    export function begin() { const inner = 1; return inner; }
    class Engine { deliver() {} #drain() {} get quiet() { return 1; } }
    const port = { take: () => 1, give() {}, kind: 'word' };
    interface Shape {}
    type Name = string;`;
  const check = (...rows: readonly string[]) =>
    namesDeclared(madeUp({ 'core/a.ts': text, 'docs/walks.md': walks(...rows) }));

  it('takes what is declared there, and a line without a name', () => {
    const names = ['begin', 'Engine', 'deliver', '#drain', 'quiet', 'take', 'give', 'Shape', 'Name', 'port'];
    const row = `| \`core/a.ts\` | ${names.map((name) => `\`${name}\``).join(', ')} | x |`;
    expect(check(row, '| `core/a.ts` | | x |')).toEqual([]);
  });

  it('refuses what is not, in the walks and in the questions', () => {
    expect(check('| `core/a.ts` | `ended`, `kind` | `begin` |')).toEqual([
      'docs/walks.md:7: "ended" is not declared in core/a.ts',
      'docs/walks.md:7: "kind" is not declared in core/a.ts',
    ]);
    const tree = madeUp({ 'core/a.ts': text, 'ARCHITECTURE.md': question('| x | `core/a.ts` | `over` |') });
    expect(namesDeclared(tree)).toEqual(['ARCHITECTURE.md:5: "over" is not declared in core/a.ts']);
  });
});

describe('roomsEnteredOnce()', () => {
  const row = (file: string) => `| ${file} | | x |`;
  const [api, engine, core] = [row('`api/a.ts`'), row('`engine/a.ts`'), row('`core/a.ts`')];
  const check = (page: string) => roomsEnteredOnce(madeUp({ 'docs/walks.md': page }));

  it('takes a walk that goes on, room by room, and one that says why it comes again', () => {
    expect(check(walks(api, api, engine, core))).toEqual([]);
    expect(check(`${walks(api, engine, core, engine)}\nEnters \`engine/\` again: the loop.\n`)).toEqual([]);
  });

  it('refuses a room that comes again without a word, and a word without a room', () => {
    expect(check(walks(api, engine, api))).toEqual([
      'docs/walks.md:3: "A start" enters api/ again and does not say why',
    ]);
    expect(check(`${walks(api, engine)}\nEnters \`api/\` again: no.\n`)).toEqual([
      'docs/walks.md:3: "A start" enters api/ once, and says "again"',
    ]);
  });

  it('takes a return for none, and each call for one', () => {
    const [toCore, toStore, fromStore] = ['↳ `core/a.ts`', '↳ `store/a.ts`', '↳ ↳ `core/b.ts`'].map(row);
    expect(check(walks(engine, toCore ?? '', engine, toStore ?? ''))).toEqual([]);
    expect(check(walks(engine, toStore ?? '', fromStore ?? '', engine))).toEqual([]);
    expect(check(walks(engine, toCore ?? '', toStore ?? '', fromStore ?? ''))).toEqual([
      'docs/walks.md:3: "A start" enters core/ again and does not say why',
    ]);
  });

  it('looks at each walk by itself, and not at what stands apart in it', () => {
    const second = `## A job\n\n${table(api)}\n### On the other driver\n\n${table(engine, api)}`;
    expect(check(`${walks(api, engine)}\n${second}`)).toEqual([]);
  });
});

describe('roomsTold()', () => {
  it('refuses a folder without a row, and a row without a folder', () => {
    const page = '# R\n\n| folder | owns |\n| - | - |\n| `core/run/` | x |\n| `core/gone/` | x |\n';
    const files = { 'core/a.ts': '', 'core/run/a.ts': '', 'core/text/b/a.ts': '', 'test/core/a.ts': '' };
    expect(roomsTold(madeUp({ 'docs/rooms.md': page, ...files }))).toEqual([
      'docs/rooms.md: no row says what core/text/ owns',
      'docs/rooms.md:6: there is no folder core/gone/',
    ]);
  });
});

describe('filesNamedExist()', () => {
  const check = (text: string, file = 'core/run/a.ts') =>
    filesNamedExist(madeUp({ [file]: text, 'core/b.ts': '', 'test/core/b.test.ts': '' }));

  it('takes a name, the end of a path, a way from the file, and what its reader fills in', () => {
    expect(
      check('/** See b.ts, core/b.ts, ../b.ts, b.test.ts and bench/NAME.ts. */\nf("gone.ts");\n'),
    ).toEqual([]);
  });

  it('refuses a file that is not there, in a comment and in a page', () => {
    expect(check('// See gone.ts, and ./b.ts.\n')).toEqual([
      'core/run/a.ts:1: names "gone.ts", and there is no such file',
      'core/run/a.ts:1: names "./b.ts", and there is no such file',
    ]);
    expect(check('# P\n\nSee `run/b.ts`.\n', 'docs/p.md')).toEqual([
      'docs/p.md:3: names "run/b.ts", and there is no such file',
    ]);
  });
});

describe('lawsLookSomewhere()', () => {
  it('refuses a law that looks into a folder that was moved', () => {
    const law = "const FOLDERS = ['api', 'moved'];\nconst WORDS = ['gone'];\n";
    expect(lawsLookSomewhere(madeUp({ 'test/repo/laws/a.ts': law, 'api/a.ts': '' }))).toEqual([
      'test/repo/laws/a.ts: looks into "moved", and there is no such folder',
    ]);
  });
});
