/**
 * The workflow files of examples/ci/, run: their scripts by bash, with the real `parley` before the scripted gateway, for
 * a job that succeeds, one whose check fails, and one that is broken.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { DEPLOYMENT_TEXT } from '../../cli/init-files.ts';
import { PARLEY, ROOT } from '../cli/parley-program.ts';
import { describeWith } from '../helpers/requires.ts';
import { removeDir, tempDir } from '../helpers/temp-dir.ts';
import { runGithubJob, runGitlabJob } from './workflow-steps.ts';

const FOLDER = path.join(ROOT, 'examples', 'ci');
const GITHUB = path.join(FOLDER, 'github-actions.yml');
const GITLAB = path.join(FOLDER, 'gitlab-ci.yml');
const KEY = 'sk-of-the-gateway';
const TOKEN = 'glpat-of-the-notes';

function programs(bin: string, calls: string): void {
  mkdirSync(bin);
  const write = (name: string, text: string): void => {
    writeFileSync(path.join(bin, name), text);
    chmodSync(path.join(bin, name), 0o755);
  };
  write('parley', `#!/bin/sh\nexec "${process.execPath}" "${PARLEY}" "$@"\n`);
  const node = (body: string): string =>
    `#!${process.execPath}\nconst fs = require('node:fs');\nconst args = process.argv.slice(2);\n${body}\n`;
  const record = `fs.appendFileSync(${JSON.stringify(calls)}, JSON.stringify({ program: require('node:path').basename(process.argv[1]), args, body: fs.existsSync('comment.md') ? fs.readFileSync('comment.md', 'utf8') : '', token: process.env.GH_TOKEN ?? null }) + '\\n');`;
  write('npm', node(record));
  // As `gh api --jq` prints what the filter finds, one a line.
  write(
    'gh',
    node(`${record}\nif (args.includes('--jq')) process.stdout.write(process.env.FAKE_COMMENTS ?? '');`),
  );
}

interface Call {
  readonly program: string;
  readonly args: readonly string[];
  readonly body: string;
  readonly token: string | null;
}

let folder = '';
let gateway: ChildProcess;
let gatewayUrl = '';

beforeAll(async () => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'parley-ci-'));
  const script = {
    ...{ kind: 'gateway-script', version: 1 },
    keys: [{ key: KEY, name: 'ci', models: ['acme/coder-1'] }],
    models: { 'acme/coder-1': { input: '1.5', output: '5' } },
    scripts: [
      {
        ...{ name: 'writes', when: { contains: 'Write a file hello.txt' } },
        turns: [
          { tool: 'terminal', arguments: { command: 'echo hello > hello.txt' } },
          { say: 'It is written.' },
        ],
      },
      { name: 'idles', turns: [{ say: 'I did <b>nothing</b> @octocat.' }] },
    ],
  };
  writeFileSync(path.join(folder, 'script.yaml'), JSON.stringify(script));
  const args = [path.join(ROOT, 'dist', 'scripted-gateway.js'), path.join(folder, 'script.yaml')];
  gateway = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  gatewayUrl = await new Promise<string>((resolve, reject) => {
    gateway.once('error', reject);
    gateway.stdout?.once('data', (line: Buffer) =>
      resolve((JSON.parse(line.toString()) as { url: string }).url),
    );
  });
});

afterAll(() => {
  gateway.kill();
  removeDir(folder);
});

/** A checkout of a user who has copied the files, and the variables of the runner. */
function setUp(change: (job: string) => string = (job) => job) {
  const root = tempDir();
  const cwd = path.join(root, 'checkout');
  mkdirSync(cwd);
  const calls = path.join(root, 'calls');
  programs(path.join(root, 'bin'), calls);
  writeFileSync(path.join(cwd, 'job.yaml'), change(readFileSync(path.join(FOLDER, 'job.yaml'), 'utf8')));
  writeFileSync(path.join(cwd, 'parley.yaml'), DEPLOYMENT_TEXT.replace('isolation: auto', 'isolation: none'));
  const summary = path.join(root, 'step-summary.md');
  const env = {
    PATH: `${path.join(root, 'bin')}:${process.env['PATH'] ?? ''}`,
    ...{ HOME: root, CI: 'true', PARLEY_PACKAGE: '/packages/parley.tgz' },
    ...{
      PARLEY_GATEWAY_URL: `${gatewayUrl}/v1`,
      PARLEY_MODEL: 'openai/acme/coder-1',
      PARLEY_GATEWAY_KEY: KEY,
    },
  };
  const recorded = (): readonly Call[] =>
    existsSync(calls)
      ? readFileSync(calls, 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as Call)
      : [];
  return { root, cwd, env, summary, recorded };
}

const idles = (job: string): string => job.replace('Write a file hello.txt', 'Think of a file hello.txt');
const broken = (job: string): string => job.replace('conversations:', 'conversation:');

const VALUES = {
  'github.run_id': '4711',
  'github.run_attempt': '1',
  'github.token': 'ghs-of-the-job',
  'github.repository': 'acme/shop',
  'github.server_url': 'https://github.example',
  'github.event.pull_request.number': '7',
  'vars.PARLEY_PACKAGE': '/packages/parley.tgz',
  'vars.PARLEY_MODEL': 'openai/acme/coder-1',
  'secrets.PARLEY_GATEWAY_KEY': KEY,
  'steps.run.outputs.code': '',
};

describe('the workflow of GitHub Actions, run', () => {
  async function play(change?: (job: string) => string, comments = '') {
    const place = setUp(change);
    const {
      PARLEY_GATEWAY_URL: url,
      PARLEY_MODEL: _,
      PARLEY_GATEWAY_KEY: __,
      PARLEY_PACKAGE: ___,
      ...own
    } = place.env;
    const env = {
      ...own,
      GITHUB_ACTIONS: 'true',
      GITHUB_STEP_SUMMARY: place.summary,
      FAKE_COMMENTS: comments,
    };
    const common = { file: GITHUB, env, values: { ...VALUES, 'vars.PARLEY_GATEWAY_URL': url } };
    const ran = await runGithubJob({ ...common, job: 'run', cwd: place.cwd });
    // What the one job uploads is all that the other has.
    const apart = path.join(place.root, 'apart');
    mkdirSync(apart);
    cpSync(path.join(place.cwd, 'summary.md'), path.join(apart, 'summary.md'));
    const commented = await runGithubJob({ ...common, job: 'comment', cwd: apart });
    expect(commented.code, commented.output).toBe(0);
    const own4 = path.join(place.cwd, 'out', 'ci-4711-1');
    const text = (name: string): string => readFileSync(path.join(own4, name), 'utf8');
    return { ...place, ran, text };
  }

  it('keeps the results of a run that succeeds, comments, and ends with 0', async () => {
    const { cwd, ran, recorded, summary, text } = await play();
    expect(ran.code, ran.output).toBe(0);
    expect(text('hello/changes.patch')).toContain('hello.txt');
    expect(text('report.xml')).toContain('<testsuite');
    expect(readFileSync(summary, 'utf8')).toContain('✅ <code>tidy</code>: Succeeded');
    expect(readFileSync(path.join(cwd, 'summary.md'), 'utf8')).toContain('<code>hello</code>');
    const [install, ask, post] = recorded();
    expect(install?.args).toEqual(['install', '--global', '--no-audit', '--no-fund', '/packages/parley.tgz']);
    expect(ask?.args).toContain('repos/acme/shop/issues/7/comments?per_page=100');
    expect(ask?.args.at(-1)).toBe(
      '.[] | select(.user.login == "github-actions[bot]" and (.body | startswith("<!-- parley: job.yaml -->"))) | .id',
    );
    expect(post?.args).toEqual([
      'api',
      '--silent',
      '--method',
      'POST',
      'repos/acme/shop/issues/7/comments',
      '--field',
      'body=@comment.md',
    ]);
    expect(post?.body).toMatch(/^<!-- parley: job\.yaml -->\n## ✅/);
    expect(post?.body).toContain('[Results](https://github.example/acme/shop/actions/runs/4711)');
  });

  it('keeps those of a run whose check fails, brings its comment up to date, and ends with 1', async () => {
    const { ran, recorded, text } = await play(idles, '91\n92\n');
    expect(ran.code, ran.output).toBe(1);
    expect(ran.steps.at(-1)).toBe('End as the run did');
    expect(ran.steps).toContain('Keep the results');
    expect(text('report.xml')).toContain('<failure');
    const change = recorded().at(-1);
    expect(change?.args.slice(2)).toEqual([
      '--method',
      'PATCH',
      'repos/acme/shop/issues/comments/91',
      '--field',
      'body=@comment.md',
    ]);
    expect(change?.body).toContain('❌ check&#95;failed');
  });

  it('says that nothing was started where the job is broken, and ends with 2', async () => {
    const { ran, recorded } = await play(broken);
    expect(ran.code, ran.output).toBe(2);
    expect(recorded().at(-1)?.body).toContain('Parley started nothing: exit code 2');
  });

  it('gives the token that may write to no job that an agent works in, and the key of the gateway to one step', () => {
    const text = readFileSync(GITHUB, 'utf8');
    const { permissions, jobs } = parse(text) as {
      permissions: object;
      jobs: Record<string, { permissions: object; steps: { env?: Record<string, string>; run?: string }[] }>;
    };
    expect(permissions).toEqual({});
    expect(jobs['run']?.permissions).toEqual({ contents: 'read' });
    expect(jobs['comment']?.permissions).toEqual({ 'pull-requests': 'write' });
    expect(JSON.stringify(jobs['run'])).not.toContain('github.token');
    const withKey = Object.values(jobs).flatMap(({ steps }) =>
      steps.filter((step) => JSON.stringify(step).includes('secrets.')),
    );
    expect(withKey.length).toBe(1);
    // Text of other users comes as a variable, and never as a part of a script.
    for (const { run = '' } of Object.values(jobs).flatMap(({ steps }) => steps))
      expect(run).not.toContain('${{');
  });
});

describeWith('curl', 'the jobs of GitLab, run', () => {
  interface Asked {
    readonly method: string;
    readonly url: string;
    readonly token: string | undefined;
    readonly body: string;
  }

  let server: Server;
  let asked: Asked[] = [];
  let notes: readonly object[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        const { method = '', url = '' } = request;
        const token = request.headers['private-token'] as string | undefined;
        asked.push({ method, url, token, body: new URLSearchParams(body).get('body') ?? '' });
        response.statusCode = token === TOKEN ? 200 : 401;
        const page = Number(new URL(url, 'http://x').searchParams.get('page'));
        response.end(
          JSON.stringify(url.endsWith('/user') ? { id: 5 } : notes.slice((page - 1) * 100, page * 100)),
        );
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  beforeEach(() => {
    asked = [];
    notes = [];
  });
  afterAll(() => void server.close());

  async function play(change?: (job: string) => string, token = TOKEN) {
    const place = setUp(change);
    const common = { file: GITLAB, cwd: place.cwd };
    const ran = await runGitlabJob({ ...common, job: 'parley', env: { ...place.env, CI_JOB_ID: '81' } });
    const { PARLEY_GATEWAY_KEY: _, ...own } = place.env;
    const ofNotes = {
      CI_API_V4_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v4`,
      ...{ CI_PROJECT_ID: '3', CI_MERGE_REQUEST_IID: '7', CI_PIPELINE_URL: 'https://gitlab.example/p/9' },
      PARLEY_NOTE_TOKEN: token,
    };
    const told = await runGitlabJob({ ...common, job: 'parley note', env: { ...own, ...ofNotes } });
    return { ...place, ran, told };
  }

  it('keep the results of a run that succeeds, write a note, and end with 0', async () => {
    const { cwd, ran, told } = await play();
    expect(ran.code, ran.output).toBe(0);
    expect(readFileSync(path.join(cwd, 'out/ci-81/report.xml'), 'utf8')).toContain('<testsuite');
    expect(readFileSync(path.join(cwd, 'out/ci-81/hello/changes.patch'), 'utf8')).toContain('hello.txt');
    expect(told.code, told.output).toBe(0);
    expect(asked.map(({ method, url }) => `${method} ${url.replace('/api/v4', '')}`)).toEqual([
      'GET /user',
      'GET /projects/3/merge_requests/7/notes?per_page=100&page=1',
      'POST /projects/3/merge_requests/7/notes',
    ]);
    expect(asked.at(-1)?.body).toMatch(/^<!-- parley: job\.yaml -->\n## ✅ <code>tidy<\/code>: Succeeded/);
    expect(asked.at(-1)?.body).toContain('[Results](https://gitlab.example/p/9)');
  });

  it('keep those of a run whose check fails, bring the own note of any page up to date, and end with 1', async () => {
    const note = (id: number, author: number) => ({
      id,
      author: { id: author },
      body: '<!-- parley: job.yaml -->\nold',
    });
    notes = [
      ...Array.from({ length: 100 }, (_, index) => note(index, 6)),
      { ...note(400, 5), body: 'mine' },
      note(401, 5),
    ];
    const { cwd, ran, told } = await play(idles);
    expect(ran.code, ran.output).toBe(1);
    expect(readFileSync(path.join(cwd, 'out/ci-81/report.xml'), 'utf8')).toContain('<failure');
    expect(told.code, told.output).toBe(0);
    expect(asked.at(-1)).toMatchObject({
      method: 'PUT',
      url: '/api/v4/projects/3/merge_requests/7/notes/401',
    });
    expect(asked.at(-1)?.body).toContain('❌ check&#95;failed');
  });

  it('say that nothing was started where the job is broken, and end with 2', async () => {
    const { ran, told } = await play(broken);
    expect(ran.code, ran.output).toBe(2);
    expect(told.code, told.output).toBe(0);
    expect(asked.at(-1)?.body).toContain('Parley started nothing: exit code 2');
  });

  it('fail when the token is refused, and print it nowhere', async () => {
    const { told } = await play(broken, 'glpat-of-yesterday');
    expect(told.code).not.toBe(0);
    expect(told.output).not.toContain('glpat');
  });
});
