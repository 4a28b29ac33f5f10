/**
 * A code host over HTTP that asks for a credential and takes pushes: Git's own backend behind a loopback port.
 * Owns the check of the header and what was said to it; must not know the product.
 */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface GitHost {
  readonly url: string;
  /** `Authorization` headers as they came, and addresses. */
  readonly requests: { readonly url: string; readonly authorization: string | undefined }[];
}

export interface GitHostOptions {
  /** Folder of the repositories. */
  readonly root: string;
  /** Password that it takes. */
  readonly password: string;
  readonly mayPush?: boolean;
}

export async function startGitHost({ root, password, mayPush = true }: GitHostOptions): Promise<GitHost> {
  const requests: GitHost['requests'] = [];
  const expected = `Basic ${Buffer.from(`x-access-token:${password}`).toString('base64')}`;
  const server = createServer((request, response) => {
    const { authorization } = request.headers;
    requests.push({ url: request.url ?? '', authorization });
    if (authorization !== expected)
      return void response.writeHead(401, { 'www-authenticate': 'Basic' }).end();
    if (!mayPush && (request.url ?? '').includes('receive-pack')) return void response.writeHead(403).end();
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const backend = spawn('git', ['-c', 'http.receivepack=true', 'http-backend'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        REMOTE_USER: 'someone',
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method ?? '',
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
        HOME: '/nonexistent',
      },
    });
    request.pipe(backend.stdin);
    const out: Buffer[] = [];
    backend.stdout.on('data', (bytes: Buffer) => out.push(bytes));
    backend.on('close', () => {
      const all = Buffer.concat(out);
      const end = all.indexOf('\r\n\r\n');
      for (const line of all.subarray(0, end).toString().split('\r\n')) {
        const [name = '', value = ''] = line.split(': ');
        if (name === 'Status') response.statusCode = Number.parseInt(value, 10);
        else response.setHeader(name, value);
      }
      response.end(all.subarray(end + 4));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}
