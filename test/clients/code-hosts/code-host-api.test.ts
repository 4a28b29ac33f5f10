/**
 * Issues and pull requests of each kind of code host, asked over HTTP of a stand-in: paging, waits, refusals, hostile
 * text, and that a pull request is brought up to date and never doubled.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiOfHost } from '../../../clients/code-hosts/api/api-of-host.ts';
import { createCodeHostApi } from '../../../clients/code-hosts/api/code-host-api.ts';
import { createCodeHosts } from '../../../clients/code-hosts/code-hosts.ts';
import { CODE_HOST_KINDS, type CodeHostKind } from '../../../core/plan/plan-issue.ts';
import type { CodeHostApi, PullRequestRequest } from '../../../ports/code-host-api.ts';
import { REPOSITORY, startStandIn, TOKEN, type StandIn } from './stand-in/stand-in.ts';

const MARKER = '<!-- parley: run-1 issue-3 -->';
const PULL: PullRequestRequest = {
  repository: { provider: 'forge', name: REPOSITORY },
  token: null,
  head: 'parley/run-1/issue-3',
  base: null,
  title: 'Fix the crash',
  body: `What was done.\n\n${MARKER}`,
  marker: MARKER,
  isDraft: true,
  labels: ['agent'],
  reviewers: ['ann'],
  comment: { issue: 3, text: 'See {url}.' },
  onWait: () => undefined,
};

interface Asking {
  readonly host: StandIn;
  readonly api: CodeHostApi;
  readonly waits: number[];
  readonly said: string[];
  issues(more?: Partial<Parameters<CodeHostApi['issues']>[0]>): ReturnType<CodeHostApi['issues']>;
}

async function asking(
  kind: CodeHostKind,
  { token = TOKEN }: { readonly token?: string | null } = {},
): Promise<Asking> {
  const host = await startStandIn(kind);
  onTestFinished(() => host.close());
  const waits: number[] = [];
  const said: string[] = [];
  const api = createCodeHostApi({
    codeHosts: createCodeHosts({ hosts: { forge: { url: `${host.origin}/{name}.git` } } }),
    apiOf: () => ({ kind, url: host.url }),
    credentialOf: () => token,
    clock: {
      now: () => 1_000_000,
      steady: () => 0,
      setTimer(at, fire) {
        waits.push(at - 1_000_000);
        setImmediate(fire);
        return { cancel: () => undefined };
      },
    },
  });
  const question = {
    kind,
    host: 'forge',
    repository: REPOSITORY,
    labels: [],
    state: 'open',
    limit: 100,
  } as const;
  return {
    ...{ host, api, waits, said },
    issues: (more) => api.issues({ ...question, token: null, onWait: (words) => said.push(words), ...more }),
  };
}

function addIssues({ issues }: StandIn, count: number): void {
  for (let number = 1; number <= count; number += 1)
    issues.push({
      ...{ number, title: `Issue ${number}`, body: `Body ${number}`, comments: [] },
      state: number % 10 === 0 ? 'closed' : 'open',
      labels: number % 2 === 0 ? ['agent'] : ['agent', 'bug'],
    });
}

describe.each(CODE_HOST_KINDS)('issues of %s', (kind) => {
  it('are read page by page, the newest first, with the labels and the state that were asked for', async () => {
    const { host, issues } = await asking(kind);
    addIssues(host, 120);
    host.pulls.push({
      ...{ number: 121, head: 'x', base: 'main', title: 'A change', body: '', draft: false, state: 'open' },
      ...{ labels: [], reviewers: [] },
    });
    const open = await issues();
    expect(open.map(({ number }) => number).slice(0, 3)).toEqual([119, 118, 117]);
    expect(open).toHaveLength(100);
    expect((await issues({ limit: 200 })).length).toBe(108);
    expect((await issues({ state: 'closed', limit: 3 })).map(({ number }) => number)).toEqual([
      120, 110, 100,
    ]);
    expect((await issues({ labels: ['agent', 'bug'], limit: 2 })).map(({ number }) => number)).toEqual([
      119, 117,
    ]);
    expect(await issues({ labels: ['unheard'] })).toEqual([]);
  });

  it('have title, body, comments, address and labels as text, and nothing that draws or hides', async () => {
    const { host, issues } = await asking(kind);
    host.issues.push({
      ...{ number: 3, title: 'A\u001b[2J title\n\u202e${{ inputs.x }}', state: 'open', labels: ['agent'] },
      body: `line\r\nnext\u0000\n${'x'.repeat(70_000)}`,
      comments: [{ id: 1, body: 'Me, too.' }],
    });
    const [one] = await issues();
    expect(one).toMatchObject({
      title: 'A[2J title ${{ inputs.x }}',
      author: 'bob',
      state: 'open',
      labels: ['agent'],
      comments: 'ann, 2026-11-20T10:00:00Z:\nMe, too.',
      url: expect.stringContaining('/3'),
    });
    expect(one?.body).toMatch(/^line\nnext\nx+\n\[cut: it has 70010 characters\]$/);
  });

  it('are refused with what to do about it', async () => {
    const { host, issues } = await asking(kind, { token: 'another' });
    const credential = expect.stringContaining('code_hosts.forge.token');
    await expect(issues()).rejects.toMatchObject({
      code: 'code_host_refused',
      message: expect.stringContaining('the credential is missing, wrong or expired (401'),
      remedy: credential,
    });
    host.before = () => ({ status: 403, body: { message: 'Resource not accessible' } });
    await expect(issues()).rejects.toMatchObject({
      message: expect.stringContaining('does not allow it (403: Resource not accessible)'),
      remedy: expect.stringContaining('read access to issues'),
    });
    host.before = () => ({ status: 404, body: { message: 'Not Found' } });
    await expect(issues()).rejects.toMatchObject({
      message: expect.stringContaining('no such repository, or the credential may not see it (404'),
      remedy: credential,
    });
    expect(host.calls).toHaveLength(3);
  });

  it('are waited for where the host limits calls, and people are told', async () => {
    const { host, issues, waits, said } = await asking(kind);
    addIssues(host, 1);
    const limits = [
      { status: 429, headers: { 'retry-after': '7' }, body: {} },
      { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1060' }, body: {} },
      { status: 429, headers: { 'ratelimit-reset': '1003' }, body: {} },
    ];
    host.before = () => limits.shift() ?? null;
    expect(await issues()).toHaveLength(1);
    expect(waits).toEqual([8_000, 61_000, 4_000]);
    expect(said[0]).toContain(
      'the code host limits calls: waiting 8 seconds, until 1970-01-01T00:16:48Z, to read issues of "acme/app" at forge',
    );
    host.before = () => ({ status: 429, headers: { 'retry-after': '90000' }, body: {} });
    await expect(issues()).rejects.toMatchObject({ code: 'code_host_failed' });
  });

  it('are asked for again when the host stumbles, and only so often', async () => {
    const { host, issues } = await asking(kind);
    addIssues(host, 1);
    let stumbles = 2;
    host.before = () => (stumbles-- > 0 ? { status: 502, body: {} } : null);
    expect(await issues()).toHaveLength(1);
    host.before = () => ({ status: 502, body: { message: 'down' } });
    await expect(issues()).rejects.toMatchObject({
      code: 'code_host_failed',
      message: expect.stringContaining('answered 502: down'),
    });
    host.before = () => ({ body: [{ number: 'one', iid: 'one' }] });
    await expect(issues()).rejects.toMatchObject({
      code: 'code_host_failed',
      message: expect.stringContaining('not answer in the words of its kind'),
    });
  });

  it('take the credential to no other host', async () => {
    const { host, issues } = await asking(kind);
    const other = await startStandIn(kind);
    onTestFinished(() => other.close());
    host.before = () => ({ status: 301, headers: { location: `${other.url}/elsewhere` }, body: {} });
    await expect(issues()).rejects.toMatchObject({ code: 'code_host_refused' });
    expect(other.calls).toEqual([]);
  });
});

describe.each(CODE_HOST_KINDS)('a pull request of %s', (kind) => {
  it('is opened once with all that belongs to it, and brought up to date from then on', async () => {
    const { host, api } = await asking(kind);
    addIssues(host, 3);
    const opened = await api.pullRequest(PULL);
    expect(opened).toMatchObject({
      state: 'opened',
      number: 4,
      notes: [],
      url: expect.stringContaining('/4'),
    });
    const again = await api.pullRequest(PULL);
    expect(again).toEqual({ ...opened, state: 'updated' });
    const changed = { ...PULL, title: 'Fix it well', body: `More.\n\n${MARKER}` };
    expect(await api.pullRequest(changed)).toMatchObject({ state: 'updated', number: 4 });
    expect(host.pulls).toMatchObject([
      {
        ...{ number: 4, head: PULL.head, base: 'main', draft: true, body: changed.body },
        title: expect.stringContaining('Fix it well'),
        labels: ['agent'],
        reviewers: ['ann'],
      },
    ]);
    expect(host.issues[2]?.comments).toEqual([{ id: 1, body: `See ${opened.url}.\n\n${MARKER}` }]);
  });

  it('is found by whoever was killed behind its making, and by whoever is second', async () => {
    const { host, api } = await asking(kind);
    addIssues(host, 3);
    let answered = 0;
    host.before = ({ method, path }) => {
      if (method === 'POST' && /\/(pulls|merge_requests)$/.test(path)) answered += 1;
      return null;
    };
    const both = await Promise.allSettled([api.pullRequest(PULL), api.pullRequest(PULL)]);
    expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled']);
    expect(host.pulls).toHaveLength(1);
    expect(answered).toBeGreaterThanOrEqual(1);
  });

  it("leaves alone what is somebody else's, and what somebody has ended", async () => {
    const { host, api } = await asking(kind);
    addIssues(host, 3);
    const { head, title } = PULL;
    host.pulls.push({
      ...{
        number: 9,
        head,
        base: 'main',
        title,
        body: 'By hand.',
        draft: false,
        state: 'open',
        labels: [],
        reviewers: [],
      },
    });
    await expect(api.pullRequest(PULL)).rejects.toMatchObject({
      code: 'code_host_refused',
      message: expect.stringContaining('number 9 is open for it, which this run has not made'),
    });
    host.pulls[0] = { ...host.pulls[0]!, body: PULL.body, state: 'merged' };
    expect(await api.pullRequest(PULL)).toMatchObject({ state: 'merged', number: 9 });
    host.pulls[0] = { ...host.pulls[0], state: 'closed' };
    expect(await api.pullRequest(PULL)).toMatchObject({ state: 'closed', number: 9 });
    expect(host.pulls).toHaveLength(1);
  });

  it('is there without a reviewer whom the host does not know, and says so', async () => {
    const { host, api } = await asking(kind);
    addIssues(host, 3);
    const { notes } = await api.pullRequest({ ...PULL, reviewers: ['nobody'] });
    expect(notes).toEqual([expect.stringMatching(/^reviewers: /)]);
    expect(host.pulls).toHaveLength(1);
  });

  it('is waited for where the host limits calls, and whoever wants to know is told until when', async () => {
    const { host, api, said } = await asking(kind);
    addIssues(host, 3);
    const limits = [{ status: 429, headers: { 'retry-after': '7' }, body: {} }];
    host.before = () => limits.shift() ?? null;
    const answer = await api.pullRequest({ ...PULL, onWait: (words) => void said.push(words) });
    expect(answer).toMatchObject({ state: 'opened' });
    expect(said).toEqual([
      `the code host limits calls: waiting 8 seconds, until 1970-01-01T00:16:48Z, to open a pull request for branch "${PULL.head}" of "${REPOSITORY}" at forge`,
    ]);
  });

  it("is asked for with the run's own credential before that of the host", async () => {
    const { host, api } = await asking(kind, { token: 'of-the-host' });
    addIssues(host, 3);
    await api.pullRequest({ ...PULL, token: TOKEN });
    expect(host.credentials.every((one) => one.endsWith(TOKEN))).toBe(true);
  });
});

describe('the interface of a code host', () => {
  it.each([
    ['github', 'https://github.com/{name}.git', {}, 'github', 'https://api.github.com'],
    ['work', 'https://github.com/{name}.git', {}, 'github', 'https://api.github.com'],
    ['github', 'https://git.example.com/{owner}/{repo}.git', {}, 'github', 'https://git.example.com/api/v3'],
    ['gitlab', 'https://gitlab.com/{name}.git', {}, 'gitlab', 'https://gitlab.com/api/v4'],
    ['forge', 'http://127.0.0.1:3000/{name}.git', { kind: 'gitea' }, 'gitea', 'http://127.0.0.1:3000/api/v1'],
    ['forgejo', 'https://example.com/git/{name}.git', {}, 'gitea', 'https://example.com/git/api/v1'],
    [
      'local',
      'file:/repos/{name}.git',
      { kind: 'gitea', url: 'http://127.0.0.1:1/api/v1/' },
      'gitea',
      'http://127.0.0.1:1/api/v1',
    ],
  ] as const)('%s at %s with %j is %s at %s', (word, clone, given, kind, url) => {
    expect(apiOfHost(word, clone, given)).toEqual({ kind, url });
  });

  it.each([
    ['forge', 'https://git.example.com/{name}.git', {}],
    ['github', 'file:/repos/{name}.git', {}],
  ])('%s at %s is not known', (word, clone, given) => {
    expect(apiOfHost(word, clone, given)).toBe(null);
  });
});
