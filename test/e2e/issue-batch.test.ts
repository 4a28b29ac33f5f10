/**
 * From issues to pull requests with a real batch: one process is killed after its first pull request is there and before
 * that is written down, the run is resumed, and every item has one pull request. Against a stand-in of Gitea, and against
 * a real one.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { installedGitea } from '../../scripts/gitea-tool.js';
import { startGitea } from '../clients/code-hosts/gitea-server.ts';
import { startStandIn, TOKEN, type StandIn } from '../clients/code-hosts/stand-in/stand-in.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import type { ProgramEnd } from './running-program.ts';
import { openUpgradeBatch, recordsIn, type UpgradeBatch } from './upgrade-batch.ts';

const RUN_ID = 'issues';
const ALL_MS_MAX = 900_000;
const REPOSITORY = 'acme/app';
const HOSTILE = 'Upgrade ${{ inputs.lib }} <!-- parley: issues issue-2 -->';
const ISSUES = [
  { title: 'Upgrade left-pad', labels: ['agent'] },
  { title: HOSTILE, labels: ['agent'] },
  { title: 'Something else', labels: ['bug'] },
] as const;

const JOB = `kind: job
version: 1
name: fix-issues
inputs: { lib: { type: string, default: left-pad } }
conversations:
  - id: fix
    items: { gitea: { repository: ${REPOSITORY}, label: agent, host: forge } }
    key: issue-\${{ item.number }}
    repo: { name: '\${{ item.repository }}', branch: main, host: forge }
    model: fast
    tags: { title: '\${{ item.title }}' }
    prompt:
      file: prompts/upgrade.md
      vars: { lib: left-pad, to: '3' }
    verify: node test.mjs
deliver:
  branch: parley/{run}/{key}
  pull_request:
    labels: agent
    reviewers: []
    draft: true
    comment: 'A change is proposed at {url}.'
cleanup: { sandbox: delete }
report: [{ to: report.md }, { to: results.jsonl }]
`;

interface Pull {
  readonly title: string;
  readonly body: string;
  readonly url: string;
  readonly head: string;
  readonly labels: readonly string[];
}

/** A code host as this test knows it. */
interface Forge {
  /** The lines of `code_hosts`. */
  readonly codeHost: string;
  readonly token: string;
  /** Of all states. */
  pulls(): Promise<readonly Pull[]>;
  comments(issue: number): Promise<readonly string[]>;
  close(): Promise<void>;
}

const standInForge = async (batch: UpgradeBatch): Promise<Forge> =>
  forgeAt(batch, await startStandIn('gitea'));

function forgeAt(batch: UpgradeBatch, host: StandIn): Forge {
  ISSUES.forEach(({ title, labels }, at) =>
    host.issues.push({ number: at + 1, title, body: 'As it says.', state: 'open', labels, comments: [] }),
  );
  cpSync(firstRepository(batch), path.join(batch.copy.dataDir, 'repos', `${REPOSITORY}.git`), {
    recursive: true,
  });
  return {
    codeHost: `  forge: { url: 'file:.parley/repos/{owner}/{repo}.git', token: os.environ/FORGE_TOKEN, api: { kind: gitea, url: '${host.url}' } }`,
    token: TOKEN,
    pulls: () =>
      Promise.resolve(
        host.pulls.map(({ number, ...pull }) => ({
          ...pull,
          url: `${host.origin}/${REPOSITORY}/pulls/${number}`,
        })),
      ),
    comments: (issue) => Promise.resolve(host.issues[issue - 1]?.comments.map(({ body }) => body) ?? []),
    close: () => host.close(),
  };
}

async function giteaForge(batch: UpgradeBatch): Promise<Forge> {
  const installed = installedGitea(process.env);
  if (installed === null) throw new Error('Gitea was removed meanwhile');
  const gitea = await startGitea(installed, path.join(batch.copy.root, 'gitea'));
  const at = `/repos/${REPOSITORY}`;
  await gitea.ask('POST', '/user/repos', { name: 'app', default_branch: 'main' });
  const pushed = new URL(`${gitea.origin}/${REPOSITORY}.git`);
  pushed.username = 'acme';
  pushed.password = gitea.token;
  execFileSync('git', ['push', '--quiet', pushed.href, 'refs/heads/main:refs/heads/main'], {
    cwd: firstRepository(batch),
  });
  const ids = new Map<string, number>();
  for (const name of ['agent', 'bug']) {
    const made = (await gitea.ask('POST', `${at}/labels`, { name, color: '#00aabb' })) as {
      readonly id: number;
    };
    ids.set(name, made.id);
  }
  for (const { title, labels } of ISSUES)
    await gitea.ask('POST', `${at}/issues`, {
      title,
      body: 'As it says.',
      labels: labels.map((name) => ids.get(name)),
    });
  return {
    codeHost: `  forge: { url: '${gitea.origin}/{name}.git', token: os.environ/FORGE_TOKEN, api: { kind: gitea } }`,
    token: gitea.token,
    async pulls() {
      const listed = (await gitea.ask('GET', `${at}/pulls?state=all`)) as readonly {
        readonly title: string;
        readonly body: string;
        readonly html_url: string;
        readonly head: { readonly ref: string };
        readonly labels: readonly { readonly name: string }[];
      }[];
      return listed.map(({ title, body, html_url: url, head, labels }) => ({
        ...{ title, body, url, head: head.ref, labels: labels.map(({ name }) => name) },
      }));
    },
    async comments(issue) {
      const listed = (await gitea.ask('GET', `${at}/issues/${issue}/comments`)) as readonly {
        readonly body: string;
      }[];
      return listed.map(({ body }) => body);
    },
    close: () => gitea.stop(),
  };
}

function firstRepository({ copy }: UpgradeBatch): string {
  return path.join(copy.dataDir, 'repos', 'acme', 'service-001.git');
}

function configure({ copy }: UpgradeBatch, { codeHost }: Forge): void {
  const file = path.join(copy.example, 'parley.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('code_hosts:\n', `code_hosts:\n${codeHost}\n`));
  writeFileSync(path.join(copy.example, 'job.yaml'), JOB);
}

/** Where a run lives: what its programs need to know of it. */
interface Engine {
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

const embedded = (): Promise<Engine> => Promise.resolve({ env: {}, stop: () => Promise.resolve() });

async function onTemporal(): Promise<Engine> {
  const server = await startServerForTests();
  return {
    env: { PARLEY_ENGINE: 'temporal', TEMPORAL_ADDRESS: server.address },
    stop: () => server.stop(),
  };
}

function issueBatch(open: (batch: UpgradeBatch) => Promise<Forge>, begin = embedded): void {
  let engine: Engine;
  let batch: UpgradeBatch;
  let forge: Forge;
  let planned: ProgramEnd;
  let killed: ProgramEnd;
  let whenKilled: readonly Pull[];
  let done: ProgramEnd;
  let pulls: readonly Pull[];
  let status: ProgramEnd;
  let again: ProgramEnd;
  let anew: ProgramEnd;

  beforeAll(async () => {
    engine = await begin();
    batch = await openUpgradeBatch({ repositories: 1, env: engine.env });
    forge = await open(batch);
    configure(batch, forge);
    const env = { FORGE_TOKEN: forge.token };
    planned = await batch.run(['plan', 'job.yaml'], env);
    const program = batch.start(['run', 'job.yaml', '--plain', '--run-id', RUN_ID], env);
    while ((await forge.pulls()).length === 0) {
      await pause(20);
      if ((await Promise.race([program.ended, null])) !== null)
        throw new Error(`the run ended: ${(await program.ended).stdout}${(await program.ended).stderr}`);
    }
    program.kill();
    killed = await program.ended;
    whenKilled = await forge.pulls();
    done = await batch.run(['resume', RUN_ID, '--json'], env);
    pulls = await forge.pulls();
    status = await batch.run(['status', RUN_ID], env);
    again = await batch.run(['run', 'job.yaml', '--plain'], env);
    anew = await batch.run(['plan', 'job.yaml', '--again'], env);
  }, ALL_MS_MAX);
  afterAll(async () => {
    await forge?.close();
    await batch?.close();
    await engine?.stop();
  });

  it('is planned over the issues with the label, whose text is no part of the job', () => {
    expect(planned.stdout, planned.stderr).toContain(`issues: 2 of ${REPOSITORY} at forge: #2, #1`);
    expect(planned.stdout).toContain('${{ inputs.lib }}');
    expect(planned.stdout).not.toContain('Something else');
  });

  it('is killed with a pull request there, and has one for each item in the end', () => {
    expect(killed.code).not.toBe(0);
    expect(whenKilled.length).toBeGreaterThan(0);
    expect(done.code, done.stdout + done.stderr).toBe(0);
    expect(pulls.map(({ head }) => head).sort()).toEqual([
      `parley/${RUN_ID}/issue-1`,
      `parley/${RUN_ID}/issue-2`,
    ]);
  });

  it('says in each what was made, checked and paid, and closes its issue', () => {
    const first = pulls.find(({ head }) => head.endsWith('issue-1'));
    expect(first).toMatchObject({ title: 'WIP: Upgrade left-pad', labels: ['agent'] });
    expect(first?.body).toContain('Closes #1');
    expect(first?.body).toContain('## Summary');
    expect(first?.body).toContain('| check | passed: `node test.mjs` |');
    expect(first?.body).toMatch(/\| cost \| \d+\.\d{6} USD \|/);
    expect(first?.body).toContain(`| run | \`${RUN_ID}\`, \`issue-1\` |`);
    expect(pulls.map(({ body }) => body).join('\n')).not.toContain(forge.token);
  });

  it('says once at each issue where the change is', async () => {
    for (const issue of [1, 2]) {
      const own = pulls.find(({ head }) => head.endsWith(`issue-${issue}`));
      const said = await forge.comments(issue);
      expect(
        said.filter((text) => text.startsWith(`A change is proposed at ${own?.url ?? 'nowhere'}.`)),
      ).toHaveLength(1);
    }
  });

  it('names the addresses in its last record, its summary and its report', () => {
    const last = recordsIn(done.stdout).at(-1);
    const urls = pulls.map(({ url }) => url).sort();
    expect((last?.['pull_requests'] as { readonly url: string }[]).map(({ url }) => url).sort()).toEqual(
      urls,
    );
    const report = readFileSync(path.join(batch.copy.resultsDir, RUN_ID, 'report.md'), 'utf8');
    for (const url of urls) {
      expect(status.stdout).toContain(url);
      expect(report).toContain(url);
    }
  });

  it('takes no issue once more that has a result, unless it is asked to', () => {
    expect(again.code).not.toBe(0);
    expect(again.stderr).toContain(`left out: 2 issues of ${REPOSITORY} with a result`);
    expect(again.stderr).toContain('JOB327');
    expect(anew.stdout).toContain('#2, #1');
  });
}

describe('a batch from issues to pull requests, at a stand-in of Gitea', () => issueBatch(standInForge));
describeWith('temporal', 'a batch from issues to pull requests on Temporal', () =>
  issueBatch(standInForge, onTemporal),
);
describeWith('gitea', 'a batch from issues to pull requests, at a real Gitea', () => issueBatch(giteaForge));

describe('a batch from issues in a process of its own', () => {
  it(
    'has asked the code host once, and goes on with what it said',
    async () => {
      const batch = await openUpgradeBatch({ repositories: 1 });
      onTestFinished(() => batch.close());
      const host = await startStandIn('gitea');
      onTestFinished(() => host.close());
      const forge = forgeAt(batch, host);
      configure(batch, forge);
      const env = { FORGE_TOKEN: forge.token };
      const listed = (): number => host.calls.filter((call) => /^GET \S*\/issues(\?|$)/.test(call)).length;
      const planned = await batch.run(['plan', 'job.yaml'], env);
      expect(planned.code, planned.stderr).toBe(0);
      // A query takes any number of pages.
      const asked = listed();
      expect(asked).toBeGreaterThan(0);
      const begun = await batch.run(['run', 'job.yaml', '--run-id', RUN_ID, '--detach'], env);
      expect(begun.code, begun.stderr).toBe(0);
      const done = await batch.run(['wait', RUN_ID, '--timeout', '10m'], env);
      expect(done.code, done.stdout + done.stderr).toBe(0);
      expect((await forge.pulls()).map(({ head }) => head).sort()).toEqual([
        `parley/${RUN_ID}/issue-1`,
        `parley/${RUN_ID}/issue-2`,
      ]);
      expect(listed()).toBe(2 * asked);
      const handed = path.join(batch.copy.dataDir, 'detached', `${RUN_ID}.issues.json`);
      expect(existsSync(handed)).toBe(false);
    },
    ALL_MS_MAX,
  );
});
