/**
 * What a sandbox says, on its way to a program of the host: an option of Git in place of a commit runs what it names.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCodeHosts } from '../../clients/code-hosts/code-hosts.ts';
import { createBranchDelivery } from '../../clients/code-hosts/deliver-branch.ts';
import { withScratchGit } from '../../clients/code-hosts/scratch-git.ts';
import { isCommitId } from '../../core/commit-id.ts';
import { createRepository, gitSync } from '../clients/code-hosts/relay-harness.ts';
import { tempDir } from '../helpers/temp-dir.ts';

/** Each would run a program, or write a file, as the user of the engine. */
function options(planted: string): readonly string[] {
  return [`--upload-pack=touch ${planted}; git-upload-pack`, `--output=${planted}`, `-u${planted}`];
}

describe('an answer of a sandbox that is an option', () => {
  it('runs a program where it is handed to Git as it is', async () => {
    const dir = tempDir();
    const planted = path.join(dir, 'planted');
    const url = `file://${createRepository(dir)}`;
    const [option = ''] = options(planted);
    await withScratchGit({ parentDir: path.join(dir, 'scratch'), authorization: null }, (git) =>
      git.call({ args: ['fetch', '--quiet', url, option] }),
    );
    expect(existsSync(planted)).toBe(true);
  });

  it.each([0, 1, 2])('is no commit to start a branch from: %i', async (index) => {
    const dir = tempDir();
    const planted = path.join(dir, 'planted');
    createRepository(dir);
    const delivery = createBranchDelivery({
      codeHosts: createCodeHosts({ hosts: { local: { url: `file:${dir}/repositories/{name}.git` } } }),
      credentialOf: () => null,
      scratchDir: path.join(dir, 'scratch'),
    });
    const pushed = delivery.deliver({
      repository: { provider: null, name: 'acme/app' },
      token: null,
      baseCommit: options(planted)[index] ?? '',
      patch: new Uint8Array([1]),
      branch: 'parley/one',
      message: 'm',
      author: { name: 'Ann', email: 'ann@example.com' },
      at: 0,
      ours: [],
      announce: () => Promise.resolve(),
    });
    await expect(pushed).rejects.toMatchObject({ code: 'deliver_refused' });
    expect(existsSync(planted)).toBe(false);
  });

  it('is told from a commit by its form alone', () => {
    const real = gitSync(createRepository(tempDir()), 'rev-parse', 'main');
    expect([real, 'a'.repeat(64)].map(isCommitId)).toEqual([true, true]);
    const foreign = [
      '',
      'HEAD',
      real.toUpperCase(),
      `${real}\n`,
      ` ${real}`,
      real.slice(1),
      ...options('/x'),
    ];
    expect(foreign.filter(isCommitId)).toEqual([]);
  });
});
