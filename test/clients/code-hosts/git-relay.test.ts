/**
 * Real Git against the relay, through a real socket bridge.
 */
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { get } from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { expect, it } from 'vitest';
import { describeWith } from '../../helpers/requires.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { createRepository, git, gitSync, startHost, startRelay } from './relay-harness.ts';

describeWith('git', 'git relay for repositories of this machine', () => {
  it('serves a clone, a shallow clone and a branch', async () => {
    const relay = await startRelay();
    createRepository(relay.dir);
    const target = tempDir();
    const url = `${relay.url}/local/acme/app.git`;
    expect(await git(target, 'clone', '-q', url, 'full')).toMatchObject({ code: 0 });
    expect(gitSync(path.join(target, 'full'), 'rev-list', '--count', 'HEAD')).toBe('3');
    expect(await git(target, 'clone', '-q', '--depth', '1', '-b', 'dev', url, 'shallow')).toMatchObject({
      code: 0,
    });
    expect(gitSync(path.join(target, 'shallow'), 'rev-list', '--count', 'HEAD')).toBe('1');
    expect(readFileSync(path.join(target, 'shallow', 'file.txt'), 'utf8')).toBe('two\n');
    expect(await git(path.join(target, 'shallow'), 'fetch', '-q', '--unshallow')).toMatchObject({ code: 0 });
    expect(relay.warnings).toEqual([]);
  });

  it('serves a repository with a work tree as well', async () => {
    const dir = tempDir();
    createRepository(dir);
    const relay = await startRelay({ dir, hosts: { local: { url: `file:${dir}/work/{name}.git` } } });
    expect(await git(tempDir(), 'clone', '-q', `${relay.url}/local/acme/app.git`, 'x')).toMatchObject({
      code: 0,
    });
  });

  it('tells a missing branch and a missing repository', async () => {
    const relay = await startRelay();
    createRepository(relay.dir);
    const branch = await git(tempDir(), 'clone', '-q', '-b', 'nope', `${relay.url}/local/acme/app.git`, 'x');
    expect(branch.text).toContain('Remote branch nope not found');
    for (const name of ['local/acme/none', 'other/acme/app']) {
      const missing = await git(tempDir(), 'clone', '-q', `${relay.url}/${name}.git`, 'x');
      expect(missing.text).toContain('not found');
    }
  });

  it('never leaves the configured root', async () => {
    const relay = await startRelay();
    createRepository(relay.dir);
    const outside = createRepository(tempDir(), 'secret/app.git');
    mkdirSync(path.join(relay.dir, 'repositories', 'evil'), { recursive: true });
    symlinkSync(outside, path.join(relay.dir, 'repositories', 'evil', 'app.git'));
    for (const name of ['evil/app', 'acme/../acme/app', 'acme/app.git/../app', 'acme/%2e%2e/acme/app']) {
      const status = await rawStatus(relay.url, `/local/${name}.git/info/refs?service=git-upload-pack`);
      expect({ name, status }).toEqual({ name, status: 404 });
    }
  });

  it('refuses a push', async () => {
    const relay = await startRelay();
    createRepository(relay.dir);
    const target = tempDir();
    await git(target, 'clone', '-q', `${relay.url}/local/acme/app.git`, 'x');
    const push = await git(path.join(target, 'x'), 'push', 'origin', 'HEAD:refs/heads/new');
    expect(push.code).not.toBe(0);
    expect(push.text).toContain('403');
  });

  it('ends a transfer whose caller sends and takes nothing, and gives its place to the next', async () => {
    const relay = await startRelay({ progressMs: 200 });
    createRepository(relay.dir);
    const { hostname, port } = new URL(relay.url);
    const stuck = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const socket = connect(Number(port), hostname);
        socket.on('error', () => undefined);
        socket.write(
          'POST /local/acme/app.git/git-upload-pack HTTP/1.1\r\nhost: x\r\n' +
            'content-type: application/x-git-upload-pack-request\r\ncontent-length: 900\r\n\r\n0',
        );
        await once(socket, 'connect');
        return socket;
      }),
    );
    const clone = await git(tempDir(), 'clone', '-q', `${relay.url}/local/acme/app.git`, 'x');
    expect(clone).toMatchObject({ code: 0 });
    for (const socket of stuck) socket.destroy();
    expect(relay.warnings.join()).toContain('Cannot serve repository "local/acme/app"');
  });

  it('asks who is calling: token by header or as password of the URL', async () => {
    const seen: unknown[] = [];
    const relay = await startRelay({
      allow: (token, provider, name) => {
        seen.push([token, provider, name]);
        return token === 'right';
      },
    });
    createRepository(relay.dir);
    const url = `${relay.url}/local/acme/app.git`;
    const header = (token: string): string[] => ['-c', `http.extraHeader=Authorization: Bearer ${token}`];
    expect((await git(tempDir(), 'clone', '-q', url, 'x')).text).toContain('could not read Username');
    expect((await git(tempDir(), ...header('wrong'), 'clone', '-q', url, 'x')).text).toContain('403');
    expect(await git(tempDir(), ...header('right'), 'clone', '-q', url, 'x')).toMatchObject({ code: 0 });
    const inUrl = url.replace('http://', 'http://x-access-token:right@');
    expect(await git(tempDir(), 'clone', '-q', inUrl, 'x')).toMatchObject({ code: 0 });
    expect(seen).toContainEqual([null, 'local', 'acme/app']);
    expect(seen).toContainEqual(['right', 'local', 'acme/app']);
  });

  it('serves eight large clones at once', async () => {
    const relay = await startRelay();
    createRepository(relay.dir, 'acme/app.git', 4_000_000);
    const url = `${relay.url}/local/acme/app.git`;
    const clones = await Promise.all(
      Array.from({ length: 8 }, () => git(tempDir(), 'clone', '-q', url, 'x')),
    );
    expect(clones.map((clone) => clone.code)).toEqual(Array.from({ length: 8 }, () => 0));
  });
});

describeWith('git', 'git relay for a code host', () => {
  it('relays with the credential in a header, and keeps it from the caller', async () => {
    const behind = await startRelay({ allow: (token) => token === 'host-credential' });
    createRepository(behind.dir);
    const relay = await startRelay({
      hosts: { github: { url: `${behind.url}/local/{name}.git` } },
      allow: (token) => token === 'sandbox',
      authorization: () => 'Bearer host-credential',
    });
    const header = ['-c', 'http.extraHeader=Authorization: Bearer sandbox'];
    const clone = await git(tempDir(), ...header, 'clone', '-q', `${relay.url}/github/acme/app.git`, 'x');
    expect(clone).toEqual({ code: 0, text: '' });
    const missing = await git(tempDir(), ...header, 'clone', '-q', `${relay.url}/github/acme/none.git`, 'x');
    expect(missing.text).toContain('not found');
  });

  it('says "not found" where the code host wants another credential', async () => {
    const behind = await startRelay({ allow: () => false });
    const relay = await startRelay({ hosts: { github: { url: `${behind.url}/local/{name}.git` } } });
    const clone = await git(tempDir(), 'clone', '-q', `${relay.url}/github/acme/app.git`, 'x');
    expect(clone.text).toContain('not found');
  });

  it('follows a rename on the same host and nothing to another one', async () => {
    let elsewhere = 0;
    const other = await startHost((_, response) => {
      elsewhere += 1;
      response.end();
    });
    const host = await startHost((request, response) => {
      const away = request.url?.startsWith('/acme/away.git') ?? false;
      if (away) response.writeHead(301, { location: `${other}/x` }).end();
      else if (request.url?.startsWith('/acme/old.git') ?? false) {
        response.writeHead(301, { location: '/acme/new.git/info/refs?service=git-upload-pack' }).end();
      } else
        response
          .writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })
          .end('here');
    });
    const relay = await startRelay({
      hosts: { github: { url: `${host}/{name}.git` } },
      authorization: () => 'Bearer hidden-credential',
    });
    const refs = (name: string): Promise<Response> =>
      fetch(`${relay.url}/github/${name}.git/info/refs?service=git-upload-pack`);
    expect(await (await refs('acme/old')).text()).toBe('here');
    expect((await refs('acme/away')).status).toBe(502);
    expect(elsewhere).toBe(0);
    expect(relay.warnings.join()).toContain('"github/acme/away"');
    expect(relay.warnings.join()).not.toContain('hidden-credential');
  });

  it('tells an unreachable code host from a missing repository', async () => {
    const relay = await startRelay({ hosts: { github: { url: 'http://127.0.0.1:1/{name}.git' } } });
    const answer = await fetch(`${relay.url}/github/acme/app.git/info/refs?service=git-upload-pack`);
    expect(answer.status).toBe(502);
  });
});

/** The status of a GET whose path is sent as it stands: `fetch` would tidy it. */
function rawStatus(url: string, target: string): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { path: target, agent: false }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    }).on('error', reject);
  });
}
