/** The preflight of a run at real gateways, repositories, secrets, folders and ports of this machine. */
import { writeFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { loadDeployment } from '../../../host/config/load-deployment.ts';
import type { Finding } from '../../../host/finding.ts';
import { preflight } from '../../../host/preflight/preflight.ts';
import { startGitHost } from '../../clients/code-hosts/git-host.ts';
import { createRepository, gitSync } from '../../clients/code-hosts/relay-harness.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { demoPlan } from '../../cli/rows.ts';

const KEY = 'sk-preflight-0123456789';

async function listen(handler: RequestListener): Promise<number> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A gateway that lists these models to the one key, packed. */
async function gateway(...ids: readonly string[]): Promise<string> {
  const port = await listen((request, response) => {
    const { authorization } = request.headers;
    if (authorization !== `Bearer ${KEY}`)
      response.writeHead(401).end(JSON.stringify({ error: `bad: ${authorization}` }));
    else {
      response.setHeader('content-encoding', 'gzip');
      response.end(gzipSync(JSON.stringify({ data: ids.map((id) => ({ id })) })));
    }
  });
  return `http://127.0.0.1:${port}`;
}

afterEach(() => void vi.unstubAllEnvs());

interface World {
  readonly folder?: string;
  readonly origin: string;
  readonly key?: string;
  /** Keys of the configuration beside the model. */
  readonly more?: string;
  readonly items: string;
  readonly secrets?: string;
}

async function poll(world: World): Promise<readonly Finding[]> {
  const { folder = tempDir(), origin, key = KEY, more = '', items, secrets = '{}' } = world;
  vi.stubEnv('VENDOR_KEY', key);
  const params = `{ model: openai/big, api_base: ${origin}/v1, api_key: os.environ/VENDOR_KEY }`;
  writeFileSync(
    path.join(folder, 'parley.yaml'),
    `${more}proxy_config:\n  model_list:\n    - { model_name: coder, proxyvendor_params: ${params} }\n`,
  );
  const { config, problems } = await loadDeployment({ path: null, cwd: folder, env: process.env });
  if (config === null) throw new Error(problems.map(({ message }) => message).join('\n'));
  const job = `kind: job\nversion: 1\nname: demo\nsecrets: ${secrets}\ndefaults: { model: coder }\nconversations:\n${items}`;
  return await preflight(config, demoPlan(job));
}

function told(findings: readonly Finding[], check: string): readonly string[] {
  return findings.filter((one) => one.check === check).map(({ status, detail }) => `${status}: ${detail}`);
}

it('finds nothing amiss where everything is there, also behind a gateway that packs its list', async () => {
  const folder = tempDir();
  createRepository(folder);
  const origin = await gateway('big', 'small');
  const more = `code_hosts: { local: { url: 'file:repositories/{name}.git', default: true } }\n`;
  const findings = await poll({ folder, origin, more, items: '  - { id: a, prompt: Hi, repo: acme/app }\n' });
  expect(findings.filter(({ status }) => status !== 'ok')).toEqual([]);
  expect(told(findings, 'gateway')).toEqual([`ok: ${origin} answers; models: coder`]);
  expect(told(findings, 'repositories')).toEqual(['ok: 1 of 1 can be read']);
});

it('tells a refused key without the key, an unlisted model with the nearest, and a model that nobody lists', async () => {
  const origin = await gateway('bigg');
  const items = '  - { id: a, prompt: Hi }\n  - { id: b, prompt: Hi, model: codr }\n';
  const unlisted = await poll({ origin, items });
  expect(told(unlisted, 'models')).toEqual([
    'failed: proxy_config lists no model "codr"',
    `failed: ${origin} does not list "big", which "coder" leads to`,
  ]);
  expect(unlisted.find(({ check }) => check === 'models')?.remedy).toBe('did you mean "coder"?');
  const refused = await poll({ origin, key: 'sk-other', items });
  expect(told(refused, 'gateway')).toEqual([
    `failed: ${origin} refuses the key of model entry "coder" (401: bad: Bearer …)`,
  ]);
  expect(JSON.stringify(refused)).not.toContain('sk-other');
});

it('asks a model itself only where nothing is listed, and says so', async () => {
  const asked: string[] = [];
  const port = await listen((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    const isCall = request.method === 'POST';
    response.writeHead(isCall ? 200 : 404).end(isCall ? '{"choices":[]}' : '{}');
  });
  const findings = await poll({ origin: `http://127.0.0.1:${port}`, items: '  - { id: a, prompt: Hi }\n' });
  expect(asked).toEqual(['GET /v1/models', 'POST /v1/chat/completions']);
  expect(told(findings, 'gateway')).toEqual([
    `warning: http://127.0.0.1:${port} lists no models, so each was asked for one token, which costs: coder`,
  ]);
});

it('tells of every repository what a clone would meet, all at once', async () => {
  const folder = tempDir();
  createRepository(folder);
  gitSync(folder, 'init', '--quiet', '--bare', 'repositories/acme/empty.git');
  const names = [
    'repo: { name: acme/app, branch: mian }',
    'repo: acme/empty',
    'repo: acme/none',
    'repo: { name: acme/app, host: elsewhere }',
    'repo: { name: acme/app, host: silent }',
  ];
  const items = names.map((repo, index) => `  - { id: i${index}, prompt: Hi, ${repo} }\n`).join('');
  const more = `code_hosts:\n  local: { url: 'file:repositories/{name}.git', default: true }\n  silent: { url: 'https://code.invalid/{name}' }\n`;
  const findings = await poll({ folder, origin: await gateway('big'), more, items });
  const lines = told(findings, 'repositories');
  expect(lines).toHaveLength(5);
  expect(lines).toContain('failed: "acme/app" of "local" has no branch or tag "mian" (conversation "i0")');
  // A repository without a commit is one to begin in, too.
  expect(lines).toContain('warning: "acme/empty" of "local" has no commit');
  expect(lines).toContain(
    `failed: "acme/none" of "local" is not there: ${folder}/repositories/acme/none.git`,
  );
  expect(lines.join('\n')).toContain('unknown provider "elsewhere", expected one of "local", "silent"');
  expect(lines.join('\n')).toMatch(/failed: "acme\/app" of "silent" cannot be read: .*(ENOTFOUND|EAI_AGAIN)/);
});

it('reads a private repository with the secret of the job, and tells when it does not open it', async () => {
  const root = tempDir();
  createRepository(root);
  const host = await startGitHost({ root: path.join(root, 'repositories'), password: 'right' });
  const folder = tempDir();
  writeFileSync(path.join(folder, 'right'), 'right\n');
  writeFileSync(path.join(folder, 'wrong'), 'wrong\n');
  const secrets = `{ r: { from: file, path: ${folder}/right }, w: { from: file, path: ${folder}/wrong } }`;
  const items = ['r', 'w']
    .map(
      (token) => `  - { id: ${token}, prompt: Hi, repo: { name: acme/app, token: { secret: ${token} } } }\n`,
    )
    .join('');
  const more = `code_hosts: { own: { url: '${host.url}/{name}.git', default: true } }\n`;
  const findings = await poll({ folder, origin: await gateway('big'), more, items, secrets });
  expect(told(findings, 'repositories')).toEqual([
    'ok: 1 of 2 can be read',
    `failed: "acme/app" of "own" is not there, or not for this credential: ${host.url}/acme/app.git`,
  ]);
});

it('tells of folders that take no file, ports that are taken, and secrets that are nowhere', async () => {
  const folder = tempDir();
  writeFileSync(path.join(folder, 'file'), '');
  const port = await listen(() => undefined);
  const more = `store: { path: file/data }\nresults: { path: file }\nproxy: { port: ${port} }\n`;
  const secrets = '{ a: { from: file, path: /no/such/file }, b: { from: store, name: team } }';
  const items = '  - { id: a, prompt: Hi, secrets: { A: a, B: b } }\n';
  const findings = await poll({ folder, origin: await gateway('big'), more, items, secrets });
  expect(told(findings, 'data directory')).toEqual([`failed: "${folder}/file" is no folder`]);
  expect(told(findings, 'results')).toEqual([`failed: "${folder}/file" is no folder`]);
  expect(told(findings, 'port')).toEqual([`failed: proxy port ${port} is taken`]);
  expect(told(findings, 'secrets')).toEqual([
    'failed: "a": "/no/such/file" cannot be read',
    'failed: "b": the store holds no secret "team"',
  ]);
});

it('says that calls without a bound hold a whole budget, where one is enforced', async () => {
  const origin = await gateway('big');
  const item = '  - { id: a, prompt: Hi }\n';
  const said = 'warning: under the budget, calls of "coder" without max_tokens hold 262144 tokens';
  const enforced = await poll({ origin, items: `${item}budget: { usd: 2, mode: enforce }\n` });
  expect(told(enforced, 'prices')).toContainEqual(expect.stringContaining(said));
  const observed = await poll({ origin, items: `${item}budget: { usd: 2, mode: observe }\n` });
  expect(told(observed, 'prices')).not.toContainEqual(expect.stringContaining(said));
});
