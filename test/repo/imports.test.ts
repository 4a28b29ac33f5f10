/** Breaks the laws about imports on made-up trees: layers, cycles, files that nothing reaches. */
import { describe, expect, it } from 'vitest';
import { cycles } from './laws/cycles.ts';
import { layers } from './laws/layers.ts';
import { reachable } from './laws/reachable.ts';
import { importsOf, packageOf } from './syntax.ts';
import { madeUp } from './tree.ts';

const ARCHITECTURE = [
  '# Architecture',
  '',
  '| folder | may import | must never contain |',
  '| --- | --- | --- |',
  '| `core/` | nothing | a clock |',
  '| `ports/` | `core/` | code |',
  '| `store/` | `core/` (types), `ports/` | a rule |',
  '| `store/inside/` | nothing | anything of ours |',
  '| `cli/` | everything except `store/inside/` | a rule |',
  '',
].join('\n');

describe('layers', () => {
  const check = (files: Record<string, string>) =>
    layers(madeUp({ 'ARCHITECTURE.md': ARCHITECTURE, ...files }));

  it('accepts what the table names', () => {
    expect(
      check({
        'core/a.ts': `import { b } from './b.ts';`,
        'ports/a.ts': `import { a } from '../core/a.ts'; import z from 'zod';`,
        'store/a.ts': `import type { a } from '../core/a.ts'; import { p } from '../ports/a.ts';`,
        'cli/main.ts': `import { a } from '../store/a.ts';`,
      }),
    ).toEqual([]);
  });

  it('refuses an import against the order', () => {
    expect(check({ 'core/a.ts': `import { p } from '../ports/p.ts';` })).toEqual([
      'core/a.ts:1: core/ may import nothing of ports/ (../ports/p.ts)',
    ]);
  });

  it('refuses a dynamic import, a re-export and an import type against the order', () => {
    const text = [
      `const p = import('../ports/p.ts');`,
      `export { q } from '../ports/q.ts';`,
      `type R = import('../ports/r.ts').R;`,
    ].join('\n');
    expect(check({ 'core/a.ts': text })).toEqual([
      'core/a.ts:1: core/ may import nothing of ports/ (../ports/p.ts)',
      'core/a.ts:2: core/ may import nothing of ports/ (../ports/q.ts)',
      'core/a.ts:3: core/ may import nothing of ports/ (../ports/r.ts)',
    ]);
  });

  it('refuses a value where only types are allowed', () => {
    expect(check({ 'store/a.ts': `import { a } from '../core/a.ts';` })).toEqual([
      'store/a.ts:1: store/ may import only types of core/ (../core/a.ts)',
    ]);
  });

  it('takes the most specific row for a program nested in a folder', () => {
    const files = {
      'store/a.ts': `import './inside/init.ts';`,
      'cli/a.ts': `import '../store/inside/init.ts';`,
    };
    expect(check(files)).toEqual([
      'store/a.ts:1: store/ may import nothing of store/inside/ (./inside/init.ts)',
      'cli/a.ts:1: cli/ may import nothing of store/inside/ (../store/inside/init.ts)',
    ]);
  });

  it('refuses a folder without a row, and a page without the table', () => {
    expect(check({ 'extra/a.ts': '' })).toEqual([
      'extra/a.ts: its folder has no row in the table of ARCHITECTURE.md',
    ]);
    expect(layers(madeUp({ 'core/a.ts': '' }))).toEqual([
      'ARCHITECTURE.md: no table with the columns "folder | may import | must never contain"',
    ]);
  });
});

describe('cycles', () => {
  it('reports a cycle once, from its first file', () => {
    const tree = madeUp({
      'core/a.ts': `import { b } from './b.ts';`,
      'core/b.ts': `import { c } from './c.ts';`,
      'core/c.ts': `import { a } from './a.ts';`,
      'core/d.ts': `import { a } from './a.ts';`,
    });
    expect(cycles(tree)).toEqual([
      'core/a.ts: import cycle core/a.ts → core/b.ts → core/c.ts → core/a.ts; move what both need into a file of its own',
    ]);
  });

  it('counts types: two files that name each other are one', () => {
    const tree = madeUp({
      'core/a.ts': `import type { B } from './b.ts';`,
      'core/b.ts': `import type { A } from './a.ts';`,
    });
    expect(cycles(tree)).toEqual([
      'core/a.ts: import cycle core/a.ts → core/b.ts → core/a.ts; move what both need into a file of its own',
    ]);
  });
});

describe('reachable', () => {
  it('reports a file that no program, test, bench or script imports', () => {
    const tree = madeUp({
      'cli/main.ts': `await import('./run.ts');`,
      'cli/run.ts': '',
      'core/lonely.ts': `import './lonelier.ts';`,
      'core/lonelier.ts': '',
      'core/tested.ts': '',
      'test/core/tested.test.ts': `import '../../core/tested.ts';`,
    });
    expect(reachable(tree)).toEqual([
      'core/lonely.ts: nothing imports it; use it, test it or remove it',
      'core/lonelier.ts: nothing imports it; use it, test it or remove it',
    ]);
  });

  it('follows the console from its own beginning', () => {
    const tree = madeUp({
      'web/main.tsx': `import { A } from './a.tsx';\nconst page = <A />;`,
      'web/a.tsx': '',
      'web/lonely.tsx': '',
    });
    expect(reachable(tree)).toEqual(['web/lonely.tsx: nothing imports it; use it, test it or remove it']);
  });
});

describe('importsOf()', () => {
  it('tells types from values', () => {
    const text = [
      `import type { A } from './a.ts';`,
      `import { type B, type C } from './b.ts';`,
      `import { type D, e } from './d.ts';`,
      `import './f.ts';`,
    ].join('\n');
    const found = importsOf({ path: 'core/x.ts', text });
    expect(found.map((one) => [one.specifier, one.typeOnly])).toEqual([
      ['./a.ts', true],
      ['./b.ts', true],
      ['./d.ts', false],
      ['./f.ts', false],
    ]);
  });

  it('names the package of a deep import', () => {
    expect(['zod', 'zod/v4', '@fastify/multipart/x', 'node:fs', 'fs', './a.ts'].map(packageOf)).toEqual([
      'zod',
      'zod',
      '@fastify/multipart',
      null,
      null,
      null,
    ]);
  });
});
