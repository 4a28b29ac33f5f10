/**
 * The real client of Git LFS through the relay: repositories of this machine and of a code host, whose store is
 * elsewhere; and questions that no client would ask.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { describeWith } from '../../helpers/requires.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { createRepository, git, gitSync, startHost, startRelay, type RelayHarness } from './relay-harness.ts';

const BYTES = Buffer.from('what Git LFS keeps\n'.repeat(1_000));
const OID = createHash('sha256').update(BYTES).digest('hex');
const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${OID}\nsize ${BYTES.length}\n`;

/** A bare repository of this machine with a pointer on `main`, and the object where Git LFS puts it. */
function createLfsRepository(dir: string): string {
  const bare = createRepository(dir);
  const work = path.join(dir, 'work/acme/app.git');
  writeFileSync(path.join(work, '.gitattributes'), '*.bin filter=lfs diff=lfs merge=lfs -text\n');
  // As a host with another address for its other clients may have it: the relay's own counts.
  writeFileSync(path.join(work, '.lfsconfig'), '[lfs]\n\turl = http://127.0.0.1:1/elsewhere\n');
  const id = gitSync(work, 'hash-object', '-w', '--no-filters', pointerFile(dir));
  gitSync(work, 'add', '.gitattributes', '.lfsconfig');
  gitSync(work, 'update-index', '--add', '--cacheinfo', `100644,${id},large.bin`);
  gitSync(work, 'commit', '-q', '-m', 'large');
  gitSync(work, 'push', '-q', bare, 'main');
  keep(bare);
  return bare;
}

function pointerFile(dir: string): string {
  const file = path.join(dir, 'pointer');
  writeFileSync(file, POINTER);
  return file;
}

function keep(bare: string, oid = OID): string {
  const folder = path.join(bare, 'lfs/objects', oid.slice(0, 2), oid.slice(2, 4));
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, oid), BYTES);
  return path.join(folder, oid);
}

function batch(relay: RelayHarness, body: unknown, host = 'local'): Promise<Response> {
  return fetch(`${relay.url}/${host}/acme/app.git/info/lfs/objects/batch`, {
    method: 'POST',
    headers: { 'content-type': 'application/vnd.git-lfs+json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

const ASK = { operation: 'download', transfers: ['basic'], objects: [{ oid: OID, size: BYTES.length }] };

/** As the clone of a conversation does it. */
async function cloned(relay: RelayHarness, host: string, ...config: readonly string[]): Promise<string> {
  const target = tempDir();
  const url = `${relay.url}/${host}/acme/app.git`;
  const all = [...config, '-c', `lfs.url=${url}/info/lfs`];
  const env = { GIT_LFS_SKIP_SMUDGE: '1' };
  Object.assign(process.env, env);
  try {
    expect(await git(target, ...config, 'clone', '-q', url, 'x')).toMatchObject({ code: 0 });
  } finally {
    delete process.env['GIT_LFS_SKIP_SMUDGE'];
  }
  const clone = path.join(target, 'x');
  expect(readFileSync(path.join(clone, 'large.bin'), 'utf8')).toBe(POINTER);
  gitSync(clone, 'lfs', 'install', '--local', '--skip-repo');
  expect(await git(clone, ...all, 'lfs', 'pull')).toMatchObject({ code: 0 });
  expect(gitSync(clone, 'status', '--porcelain')).toBe('');
  return clone;
}

describeWith('git-lfs', 'the client of Git LFS through the relay', () => {
  it('fetches what a repository of this machine keeps', async () => {
    const relay = await startRelay();
    createLfsRepository(relay.dir);
    const clone = await cloned(relay, 'local');
    expect(readFileSync(path.join(clone, 'large.bin')).equals(BYTES)).toBe(true);
    expect(relay.warnings).toEqual([]);
  });

  it('fetches what a code host keeps, with its credential, which stays on this side', async () => {
    const behind = await startRelay({ allow: (token) => token === 'host-credential' });
    createLfsRepository(behind.dir);
    const relay = await startRelay({
      hosts: { github: { url: `${behind.url}/local/{name}.git` } },
      allow: (token) => token === 'sandbox',
      authorization: () => 'Bearer host-credential',
    });
    const header = ['-c', 'http.extraHeader=Authorization: Bearer sandbox'];
    const clone = await cloned(relay, 'github', ...header);
    expect(readFileSync(path.join(clone, 'large.bin')).equals(BYTES)).toBe(true);
  });

  it('is told of an object that is not there, and of a push', async () => {
    const relay = await startRelay();
    const bare = createLfsRepository(relay.dir);
    const clone = await cloned(relay, 'local');
    const url = ['-c', `lfs.url=${relay.url}/local/acme/app.git/info/lfs`];
    writeFileSync(path.join(clone, 'more.bin'), 'more');
    gitSync(clone, 'add', '.');
    gitSync(clone, 'commit', '-q', '-m', 'more');
    const pushed = await git(clone, ...url, 'lfs', 'push', 'origin', 'HEAD');
    expect(pushed.code).not.toBe(0);
    writeFileSync(keep(bare), 'cut');
    const other = tempDir();
    expect((await git(other, 'clone', '-q', `${relay.url}/local/acme/app.git`, 'y')).code).toBe(0);
    const missing = await git(path.join(other, 'y'), ...url, 'lfs', 'pull');
    expect(missing.code).not.toBe(0);
    expect(missing.text).toContain('not there');
  });
});

describeWith('git', 'a question of Git LFS', () => {
  it('is answered with addresses of the relay and with nothing of the store', async () => {
    const seen: IncomingMessage[] = [];
    const store = await startHost((request, response) => {
      seen.push(request);
      response.end(BYTES);
    });
    const host = await startLfsHost(`${store}/secret/${OID}`, { 'X-Store': 'store-credential' });
    const relay = await startRelay({
      hosts: { github: { url: `${host}/{name}` } },
      authorization: () => 'Basic hidden-credential',
    });
    const answer = await batch(relay, ASK, 'github');
    const text = await answer.text();
    expect(answer.headers.get('content-type')).toBe('application/vnd.git-lfs+json');
    expect(text).not.toMatch(/secret|credential/);
    const { objects } = JSON.parse(text) as {
      readonly objects: readonly { readonly actions: { readonly download: { readonly href: string } } }[];
    };
    const { href } = objects[0]?.actions.download ?? { href: '' };
    expect(href).toBe(`${relay.url}/github/acme/app.git/info/lfs/objects/${OID}?size=${BYTES.length}`);
    const object = Buffer.from(await (await fetch(href)).arrayBuffer());
    expect(object.equals(BYTES)).toBe(true);
    expect(seen[0]?.headers).toMatchObject({ 'x-store': 'store-credential' });
    // The code host's own credential is for the code host.
    expect(seen[0]?.headers['authorization']).toBeUndefined();
  });

  it('follows a redirect of a store without what was for the first', async () => {
    const seen: IncomingMessage[] = [];
    const second = await startHost((request, response) => {
      seen.push(request);
      response.end(BYTES);
    });
    const first = await startHost((_, response) => {
      response.writeHead(302, { location: `${second}/signed` }).end();
    });
    const host = await startLfsHost(`${first}/x`, { Authorization: 'Bearer store-credential' });
    const relay = await startRelay({ hosts: { github: { url: `${host}/{name}` } } });
    const href = `${relay.url}/github/acme/app.git/info/lfs/objects/${OID}?size=${BYTES.length}`;
    expect((await fetch(href)).status).toBe(200);
    expect(seen[0]?.headers['authorization']).toBeUndefined();
  });

  it.each([
    ['no JSON', '{'],
    ['no question', {}],
    ['an id that is none', { ...ASK, objects: [{ oid: '../../etc/passwd', size: 1 }] }],
    ['too many objects', { ...ASK, objects: Array.from({ length: 1_001 }, () => ASK.objects[0]) }],
    ['too much', ' '.repeat(1_100_000)],
  ])('is refused: %s', async (_, body) => {
    const relay = await startRelay();
    createRepository(relay.dir);
    expect((await batch(relay, body)).status).toBe(422);
  });

  it('finds no repository, no way out of one, and nobody without a right', async () => {
    const relay = await startRelay({ allow: (token, _, name) => token === null && name === 'acme/app' });
    const ask = (target: string, method = 'GET') =>
      fetch(`${relay.url}/local/${target}`, { method }).then(({ status }) => status);
    expect((await batch(relay, ASK)).status).toBe(404);
    const bare = createRepository(relay.dir);
    expect((await batch(relay, { ...ASK, operation: 'upload' })).status).toBe(403);
    const secret = path.join(tempDir(), 'secret');
    writeFileSync(secret, BYTES);
    const kept = keep(bare, 'f'.repeat(64));
    const other = 'e'.repeat(64);
    mkdirSync(path.join(bare, 'lfs/objects/ee/ee'), { recursive: true });
    symlinkSync(secret, path.join(bare, 'lfs/objects/ee/ee', other));
    expect(kept).toContain('ff');
    expect(await ask(`acme/app.git/info/lfs/objects/${other}?size=${BYTES.length}`)).toBe(404);
    expect(await ask(`acme/app.git/info/lfs/objects/${'f'.repeat(64)}?size=1`)).toBe(404);
    expect(await ask(`acme/app.git/info/lfs/objects/${'f'.repeat(64)}`)).toBe(404);
    expect(await ask(`acme/app.git/info/lfs/objects/${'f'.repeat(64)}?size=${BYTES.length}`)).toBe(200);
    expect(await ask('acme/app.git/info/lfs/objects/batch')).toBe(405);
    expect(await ask(`acme/app.git/info/lfs/objects/${OID}?size=1`, 'PUT')).toBe(405);
    expect(await ask(`acme/other.git/info/lfs/objects/${OID}?size=1`)).toBe(401);
  });
});

describe('a code host that goes wrong with Git LFS', () => {
  const page = (text: string) => (_: IncomingMessage, response: ServerResponse) => void response.end(text);
  it.each([
    ['no JSON', page('<html>')],
    ['another shape', page('{"objects":[{"oid":1}]}')],
    ['an address that is none', page(answerOf('file:///etc/passwd'))],
    ['a failure', (_: IncomingMessage, response: ServerResponse) => void response.writeHead(500).end()],
  ])('is told as such: %s', async (_, handler) => {
    const host = await startHost(handler);
    const relay = await startRelay({ hosts: { github: { url: `${host}/{name}` } } });
    const answer = await batch(relay, ASK, 'github');
    const text = await answer.text();
    expect(answer.status === 502 || text.includes('"error":{"code":502')).toBe(true);
    const object = await fetch(`${relay.url}/github/acme/app.git/info/lfs/objects/${OID}?size=1`);
    expect([404, 502]).toContain(object.status);
  });
});

function answerOf(href: string, header: Readonly<Record<string, string>> = {}): string {
  return JSON.stringify({
    objects: [{ oid: OID, size: BYTES.length, actions: { download: { href, header } } }],
  });
}

/** Answers every question with one address. */
function startLfsHost(href: string, header: Readonly<Record<string, string>>): Promise<string> {
  return startHost((request, response) => {
    expect(request.url).toBe('/acme/app.git/info/lfs/objects/batch');
    response.end(answerOf(href, header));
  });
}
