/** The figures of the house, counted on a made-up tree. */
import { expect, it } from 'vitest';
import { FLAT_FILES_MAX, houseOf } from './house.ts';
import { madeUp } from './tree.ts';

const TABLE = [
  '| folder | may import | must never contain |',
  '| --- | --- | --- |',
  '| `core/` | nothing | a clock |',
  '| `store/` | `core/` | a rule |',
  '| `test/` | everything | a sleep |',
  '',
].join('\n');

it('counts rooms, crowds, parts of one importer, arrows and bare exports', () => {
  const crowd = Object.fromEntries(
    Array.from({ length: FLAT_FILES_MAX + 1 }, (_, i) => [`store/file-${i}.ts`, 'const a = 1;\n']),
  );
  const house = houseOf(
    madeUp({
      'ARCHITECTURE.md': TABLE,
      'core/main.ts': `import { part } from './part.ts';\nimport '../store/file-1.ts';\npart();\n`,
      // One export is spoken for by the opening paragraph of its file.
      'core/part.ts': 'export function part(): void {}\n',
      'core/two.ts': '/** Said. */\nexport const a = 1;\nexport const b = 2;\n',
      ...crowd,
      'store/file-2.ts': `import { b } from '../core/two.ts';\n`,
      'test/core/part.test.ts': `import { part } from '../../core/part.ts';\npart();\n`,
    }),
  );
  expect(house).toMatchObject({
    files: FLAT_FILES_MAX + 4,
    lines: FLAT_FILES_MAX + 1 + 7,
    rooms: [
      { room: 'core', files: 3, lines: 7, median: 3, longest: 'core/two.ts 3' },
      { room: 'store', files: FLAT_FILES_MAX + 1, median: 1 },
    ],
    crowded: { store: FLAT_FILES_MAX + 1 },
    single: { 'core/part.ts': 'core/main.ts' },
    upwards: ['core/main.ts:2: core/ may import nothing of store/ (../store/file-1.ts)'],
    circles: [],
    undocumented: { core: 1 },
  });
});
