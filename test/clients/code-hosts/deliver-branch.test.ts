/** Branches pushed to real bare repositories: on this machine, and over HTTP with a credential. */
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { createCodeHosts } from '../../../clients/code-hosts/code-hosts.ts';
import { createBranchDelivery } from '../../../clients/code-hosts/deliver-branch.ts';
import { EMPTY_TREE } from '../../../core/commit-id.ts';
import type { BranchDelivery, BranchRequest } from '../../../ports/branch-delivery.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { sampleCommandLines } from '../../e2e/process-list.ts';
import { startGitHost } from './git-host.ts';
import { createRepository, gitSync } from './relay-harness.ts';

const TOKEN = 'planted+token/of=the?host';
const BRANCH = 'parley/run-1/one';

interface Place {
  readonly dir: string;
  readonly bare: string;
  readonly base: string;
  /** Of a change of `file.txt`, and a file of bytes. */
  readonly patch: Uint8Array;
  readonly announced: string[];
  request(change?: Partial<BranchRequest>): BranchRequest;
  delivery(url?: string): BranchDelivery;
  tip(branch?: string): string | null;
}

function place(): Place {
  const dir = tempDir();
  const bare = createRepository(dir);
  const base = gitSync(bare, 'rev-parse', 'main');
  const work = path.join(dir, 'clone');
  gitSync(dir, 'clone', '-q', bare, work);
  writeFileSync(path.join(work, 'file.txt'), 'changed\n');
  writeFileSync(path.join(work, 'bytes.bin'), Buffer.from([0, 255, 10, 13, 0]));
  gitSync(work, 'add', '.');
  const patch = Buffer.from(`${gitSync(work, 'diff', '--binary', '--cached')}\n`);
  const announced: string[] = [];
  return {
    dir,
    bare,
    base,
    patch,
    announced,
    request: (change = {}) => ({
      repository: { provider: null, name: 'acme/app' },
      token: null,
      baseCommit: base,
      patch,
      branch: BRANCH,
      message: 'Upgrade it',
      author: { name: 'Ann', email: 'ann@example.com' },
      at: 1_767_225_600_000,
      ours: [],
      announce: (commit) => Promise.resolve(void announced.push(commit)),
      ...change,
    }),
    delivery: (url = `file:${dir}/repositories/{name}.git`) =>
      createBranchDelivery({
        codeHosts: createCodeHosts({ hosts: { local: { url } } }),
        credentialOf: () => null,
        scratchDir: path.join(dir, 'scratch'),
      }),
    tip: (branch = BRANCH) =>
      gitSync(bare, 'for-each-ref', '--format=%(objectname)', `refs/heads/${branch}`) || null,
  };
}

/** A commit of another user on the branch. */
function pushForeign({ dir, bare }: Place): string {
  const work = path.join(dir, 'foreign');
  gitSync(dir, 'clone', '-q', bare, work);
  gitSync(work, 'checkout', '-q', '-B', BRANCH);
  gitSync(work, 'commit', '-q', '--allow-empty', '-m', 'Mine');
  gitSync(work, 'push', '-q', '--force', 'origin', BRANCH);
  return gitSync(work, 'rev-parse', 'HEAD');
}

describe('a branch that is delivered', () => {
  it('holds one commit on the base with the patch, by the author, and nothing else changes', async () => {
    const here = place();
    const main = here.tip('main');
    const { commit, pushed } = await here.delivery().deliver(here.request());
    expect(pushed).toBe(true);
    expect(here.tip()).toBe(commit);
    expect(here.announced).toEqual([commit]);
    const format = '%P|%an|%ae|%cn|%s|%at';
    expect(gitSync(here.bare, 'log', '-1', `--format=${format}`, commit)).toBe(
      `${here.base}|Ann|ann@example.com|Ann|Upgrade it|1767225600`,
    );
    expect(gitSync(here.bare, 'show', `${commit}:file.txt`)).toBe('changed');
    expect(gitSync(here.bare, 'cat-file', '-s', `${commit}:bytes.bin`)).toBe('5');
    expect(here.tip('main')).toBe(main);
    expect(readdirSync(path.join(here.dir, 'scratch'))).toEqual([]);
  });

  it('is the first commit of a repository that had none', async () => {
    const here = place();
    gitSync(here.dir, 'init', '-q', '--bare', 'repositories/acme/empty.git');
    const bare = path.join(here.dir, 'repositories/acme/empty.git');
    const patch = Buffer.from(
      'diff --git a/a b/a\nnew file mode 100644\n--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+one\n',
    );
    const request = { repository: { provider: null, name: 'acme/empty' }, baseCommit: EMPTY_TREE, patch };
    const { commit } = await here.delivery().deliver(here.request(request));
    expect(gitSync(bare, 'log', '--format=%H|%P', BRANCH)).toBe(`${commit}|`);
    expect(gitSync(bare, 'show', `${commit}:a`)).toBe('one');
  });

  it('is pushed once, however often it is asked for, also when the base has moved on', async () => {
    const here = place();
    const first = await here.delivery().deliver(here.request());
    gitSync(path.join(here.dir, 'work/acme/app.git'), 'commit', '-q', '--allow-empty', '-m', 'four');
    gitSync(path.join(here.dir, 'work/acme/app.git'), 'push', '-q', here.bare, 'HEAD:main');
    const again = await here.delivery().deliver(here.request());
    expect(again).toEqual({ commit: first.commit, pushed: false });
    expect(here.announced).toHaveLength(1);
  });

  it('replaces a commit that an earlier attempt of the same item pushed', async () => {
    const here = place();
    const first = await here.delivery().deliver(here.request());
    const other = await here.delivery().deliver(here.request({ message: 'Again', ours: [first.commit] }));
    expect(other).toMatchObject({ pushed: true });
    expect(here.tip()).toBe(other.commit);
    expect(other.commit).not.toBe(first.commit);
  });

  it('never replaces a commit of somebody else, there before or arriving meanwhile', async () => {
    const here = place();
    const foreign = pushForeign(here);
    const refused = here.delivery().deliver(here.request());
    await expect(refused).rejects.toMatchObject({
      code: 'deliver_refused',
      message: expect.stringContaining(foreign.slice(0, 12)),
    });
    expect(here.tip()).toBe(foreign);
    expect(here.announced).toEqual([]);

    const late = place();
    let arrived = '';
    const announce = (): Promise<void> => Promise.resolve(void (arrived = pushForeign(late)));
    await expect(late.delivery().deliver(late.request({ announce }))).rejects.toMatchObject({
      code: 'deliver_refused',
    });
    expect(late.tip()).toBe(arrived);
  });

  it.each([
    ['a patch that does not fit', { patch: Buffer.from('diff --git a/x b/x\nnonsense\n') }, 'git apply'],
    ['a base that nobody has', { baseCommit: '0123456789'.repeat(4) }, 'no longer has the commit'],
    ['a repository that is not there', { repository: { provider: null, name: 'acme/none' } }, 'no such'],
  ])('refuses %s, in a sentence', async (_, change, words) => {
    const here = place();
    await expect(here.delivery().deliver(here.request(change))).rejects.toMatchObject({
      code: 'deliver_refused',
      message: expect.stringContaining(words),
    });
    expect(here.tip()).toBeNull();
  });
});

describe('a branch that is delivered over HTTP', () => {
  it('goes with the credential in a header, which is in no argument, address, file or error', async () => {
    const here = place();
    const host = await startGitHost({ root: path.join(here.dir, 'repositories'), password: TOKEN });
    const lines = sampleCommandLines();
    const delivery = here.delivery(`${host.url}/{name}.git`);
    const { commit } = await delivery.deliver(here.request({ token: TOKEN }));
    const seen = lines.stop();
    expect(here.tip()).toBe(commit);
    const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64');
    expect(host.requests.every(({ authorization }) => authorization === `Basic ${basic}`)).toBe(true);
    for (const text of [...seen, ...host.requests.map(({ url }) => url)]) {
      expect(text).not.toContain(TOKEN);
      expect(text).not.toContain(basic);
    }
  });

  it.each([
    ['does not know the credential', 'wrong', true],
    ['lets it only read', TOKEN, false],
  ])('is refused by a host that %s', async (_, token, mayPush) => {
    const here = place();
    const root = path.join(here.dir, 'repositories');
    const host = await startGitHost({ root, password: TOKEN, mayPush });
    const delivered = here.delivery(`${host.url}/{name}.git`).deliver(here.request({ token }));
    const error = await delivered.catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'deliver_refused' });
    expect(String(error)).not.toContain(token);
    expect(here.tip()).toBeNull();
  });

  it('fails, to be tried again, when nobody answers', async () => {
    const here = place();
    const delivered = here.delivery('http://127.0.0.1:9/{name}.git').deliver(here.request());
    await expect(delivered).rejects.toMatchObject({ code: 'deliver_failed', retry: true });
  });
});
