/**
 * Pages of the package lead nowhere that is not in it: what they link to is packed or is an address, and what they name
 * of the checkout is packed or is a source.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../cli/parley-program.ts';

/** What README calls the source: everything at the top of a checkout but these, which are in the package. */
const PACKED = /^(bin|chart|docs|examples|schema|package\.json|temporal-compose\.yml|.*\.md)$/;
const SOURCES = execFileSync('git', ['ls-tree', '--name-only', 'HEAD'], { cwd: ROOT, encoding: 'utf8' })
  .split('\n')
  .concat('node_modules')
  .filter((name) => !PACKED.test(name));
const OUTPUT_BYTES_MAX = 64 * 1024 ** 2;

interface Listed {
  readonly path: string;
}

function packedNames(): ReadonlySet<string> {
  const said = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts'], {
    cwd: ROOT,
    encoding: 'utf8',
    maxBuffer: OUTPUT_BYTES_MAX,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [listed] = JSON.parse(said) as readonly { readonly files: readonly Listed[] }[];
  const names = new Set<string>();
  for (const { path: file } of listed?.files ?? [])
    for (let at = file; at !== '.'; at = path.posix.dirname(at)) names.add(at);
  return names;
}

/** Places that `page` leads to and that the package lacks. */
function lost(page: string, text: string, isPacked: (name: string) => boolean): readonly string[] {
  const from = (name: string): string =>
    path.posix.normalize(path.posix.join(path.posix.dirname(page), name));
  const bare = (name: string): string => name.replace(/[/,;:]+$/, '');
  const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link);
  const dead = links
    .filter((link) => !/^(https?:|mailto:|#)/.test(link))
    .filter((link) => !isPacked(bare(from(link.split('#')[0] ?? ''))));
  const code = [...text.matchAll(/`([^`\n]+)`|^```\w*\n([^]*?)^```$/gm)].flatMap(([, word, block]) =>
    (word ?? block ?? '').split(/\s+/),
  );
  const named = code
    .map(bare)
    .filter((word) => /^[\w.][\w./-]*$/.test(word) && (word.includes('/') || /\.\w+$/.test(word)))
    .filter((word) => !word.startsWith('.') && !SOURCES.includes(word.split('/')[0] ?? ''))
    .filter((word) => existsSync(path.join(ROOT, word)) && !isPacked(word));
  return [...dead, ...named];
}

describe('pages of the package', () => {
  const names = packedNames();
  const pages = [...names].filter((name) => name.endsWith('.md'));

  it('are all of docs/, and those of the root', () => {
    expect(pages).toEqual(expect.arrayContaining(['README.md', 'CHANGELOG.md', 'docs/tutorial.md']));
    expect(names.has('LICENSE')).toBe(true);
  });

  it.each(pages)('%s leads to what is there', (page) => {
    expect(lost(page, readFileSync(path.join(ROOT, page), 'utf8'), (name) => names.has(name))).toEqual([]);
  });

  it('would be refused for a link and for a name that lead nowhere', () => {
    const text =
      'See [it](../gone.md#x), [that](https://example.org), `core/limits.ts` and `npm x docs/spec.md`.';
    expect(lost('docs/a.md', text, () => false)).toEqual(['../gone.md#x', 'docs/spec.md']);
  });
});
