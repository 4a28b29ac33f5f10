/**
 * Patterns of files against what a shell says of the same names, and in bounded time.
 */
import { spawnSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findFiles, ENTRIES_MAX, FILES_MAX, namePatterns } from '../../dsl/rows/find-files.ts';
import type { FolderEntry } from '../../dsl/world.ts';

function matches(pattern: string, name: string): boolean {
  return namePatterns(pattern).some(([part]) => typeof part === 'object' && part.matches(name));
}

describe('a pattern of names', () => {
  it.each([
    ['*.md', 'fix.md', true],
    ['*.md', '.md', false],
    ['.*.md', '.fix.md', true],
    ['a*b*c', 'aXbbYc', true],
    ['a*b*c', 'aXbbY', false],
    ['?', '🎉', true],
    ['[a-c]x', 'bx', true],
    ['[!a-c]x', 'bx', false],
    ['[]x]', ']', true],
    ['[a', '[a', true],
    ['{fix,up}.md', 'up.md', true],
    ['{fix}.md', '{fix}.md', true],
    ['a.md', 'axmd', false],
  ])('%s and %s: %s', (pattern, name, expected) => {
    expect(matches(pattern, name)).toBe(expected);
  });

  it('means what it means to a shell', () => {
    const unit = fc.constantFrom('a', 'b', '.', '*', '?', '[', ']', '!', '-');
    const pattern = fc.string({ unit, minLength: 1, maxLength: 6 });
    const name = fc.string({ unit: fc.constantFrom('a', 'b', '.', '-'), minLength: 1, maxLength: 5 });
    // These three are no names, but ways.
    const isName = (text: string): boolean => !['**', '.', '..'].includes(text);
    const pairs = fc.sample(fc.tuple(pattern.filter(isName), name), { seed: 20261126, numRuns: 2_000 });
    // As for names of files, a dot that comes first is matched by a dot alone.
    const script = [
      'while read -r p && read -r n; do',
      '  case "$n" in .*) case "$p" in .*) ;; *) echo n; continue ;; esac ;; esac',
      '  if [[ "$n" == $p ]]; then echo y; else echo n; fi; done',
    ].join('\n');
    const input = pairs.flat().join('\n');
    const told = spawnSync('bash', ['-c', `shopt -u extglob\n${script}`], {
      input: `${input}\n`,
      encoding: 'utf8',
      env: { LC_ALL: 'C' },
    });
    const answers = told.stdout.trim().split('\n');
    expect(answers).toHaveLength(pairs.length);
    const other = pairs.filter(([one, of], at) => (matches(one, of) ? 'y' : 'n') !== answers[at]);
    expect(other).toEqual([]);
  });

  it('takes no time that grows with the number of its stars', () => {
    const started = performance.now();
    expect(matches(`${'*a'.repeat(200)}b`, 'a'.repeat(250))).toBe(false);
    expect(performance.now() - started).toBeLessThan(2_000);
  });
});

type Folders = Readonly<Record<string, readonly (FolderEntry | string)[]>>;

/** `x/` is a folder, everything else a file. */
function found(folders: Folders, ...patterns: readonly string[]) {
  return findFiles(patterns, (folder) => {
    const entries = folders[folder];
    if (entries === undefined) return { problem: 'missing' };
    return {
      entries: entries.map((entry) =>
        typeof entry !== 'string'
          ? entry
          : {
              name: entry.replace(/\/$/, ''),
              kind: entry.endsWith('/') ? ('folder' as const) : ('file' as const),
              isLink: false,
            },
      ),
    };
  });
}

const FOLDERS: Folders = {
  '': ['b.md', 'a.md', 'docs/', '.hidden.md', '.git/'],
  docs: ['z.md', 'deep/', 'a.txt'],
  'docs/deep': ['y.md', 'er/'],
  'docs/deep/er': ['x.md'],
  '.git': ['no.md'],
  '..': ['up.md', 'here/'],
};

describe('files', () => {
  it.each([
    [['*.md'], ['a.md', 'b.md']],
    [
      ['*.md', 'b.*', './*.md'],
      ['a.md', 'b.md'],
    ],
    [['**/*.md'], ['a.md', 'b.md', 'docs/deep/er/x.md', 'docs/deep/y.md', 'docs/z.md']],
    [['docs/**/deep/**/x.md'], ['docs/deep/er/x.md']],
    [['docs/**'], ['docs/a.txt', 'docs/deep/er/x.md', 'docs/deep/y.md', 'docs/z.md']],
    [['*/*'], ['docs/a.txt', 'docs/z.md']],
    [['.git/*'], ['.git/no.md']],
    [['../*.md'], ['../up.md']],
    [['docs'], []],
    [['none/*'], []],
  ])('%s are each there once, in order', (patterns, files) => {
    expect(found(FOLDERS, ...patterns)).toEqual({ files });
  });

  it('goes into a linked folder that is named, and round no circle', () => {
    const link = { name: 'round', kind: 'folder', isLink: true } as const;
    const folders = { '': [link, 'a.md'], round: [link, 'a.md'] };
    expect(found(folders, '**/*.md')).toEqual({ files: ['a.md'] });
    expect(found(folders, 'round/*.md', '*/*.md')).toEqual({ files: ['round/a.md'] });
  });

  it('ends at its bounds', () => {
    const many = (count: number): string[] => Array.from({ length: count }, (_, at) => `f${at}`);
    expect(found({ '': many(FILES_MAX) }, '*')).toHaveProperty('files.length', FILES_MAX);
    expect(found({ '': many(FILES_MAX + 1) }, '*')).toEqual({ problem: 'too_many_files' });
    expect(found({ '': many(ENTRIES_MAX + 1) }, 'g*')).toEqual({ problem: 'too_many_entries' });
  });
});
