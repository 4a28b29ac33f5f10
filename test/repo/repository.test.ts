/**
 * Runs every law over the repository as it stands on disk.
 * What each law forbids is shown by the tests beside, which break it on a made-up tree.
 */
import { describe, expect, it } from 'vitest';
import { LAWS } from './laws.ts';
import { readRepository } from './tree.ts';

const tree = readRepository();

describe('the repository', () => {
  it('is read: a law over nothing would hold', () => {
    const names = tree.map((file) => file.path);
    expect(names).toContain('core/limits.ts');
    expect(names).toContain('ARCHITECTURE.md');
    expect(names.filter((name) => name.startsWith('node_modules/'))).toEqual([]);
  });

  it.each(Object.entries(LAWS))('%s', (_, law) => {
    expect(law(tree)).toEqual([]);
  });
});
