/** The console's files: who gets what with which headers, and that the API beside them stays as it is. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import Fastify, { type FastifyInstance } from 'fastify';
import { expect, it, onTestFinished } from 'vitest';
import { registerConsole } from '../../api/console/console-files.ts';
import { startApplicationServer } from '../../api/application/server.ts';
import { APPLICATION_ROUTES } from '../../api/application/routes.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { openService } from './service.ts';

const SCRIPT = 'assets/index-abc123.js';

function built(): string {
  const folder = tempDir();
  mkdirSync(path.join(folder, 'assets'));
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html><title>console</title>');
  writeFileSync(path.join(folder, SCRIPT), 'export const one = 1;');
  writeFileSync(path.join(folder, '.stamp'), 'not a page');
  return folder;
}

/** The whole server with the console in it. */
async function served(folder: string): Promise<string> {
  const { application } = await openService();
  const server = await startApplicationServer(application, {
    ...{ at: { host: '127.0.0.1', port: 0 }, routes: APPLICATION_ROUTES, log: () => undefined },
    extend: (app) => registerConsole(app, folder),
  });
  onTestFinished(() => server.close());
  return server.url;
}

it('leads from the root to the console, whose pages are one file and whose policy is strict', async () => {
  const url = await served(built());
  const root = await fetch(`${url}/`, { redirect: 'manual' });
  expect([root.status, root.headers.get('location')]).toEqual([302, '/console/']);
  for (const address of ['/console/', '/console/conversations', '/console/runs/nightly-1.2']) {
    const answer = await fetch(`${url}${address}`);
    expect([answer.status, await answer.text()]).toEqual([200, '<!doctype html><title>console</title>']);
    const { headers } = answer;
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(headers.get('content-security-policy')).not.toMatch(/unsafe|\*|https?:/);
    expect([headers.get('x-frame-options'), headers.get('x-content-type-options')]).toEqual([
      'DENY',
      'nosniff',
    ]);
    expect([headers.get('cache-control'), headers.get('pragma')]).toEqual(['no-cache', null]);
  }
});

it('answers HEAD as GET, without the page', async () => {
  const url = await served(built());
  for (const address of ['/', '/console', '/console/', `/console/${SCRIPT}`]) {
    const [head, got] = await Promise.all(
      ['HEAD', 'GET'].map((method) => fetch(`${url}${address}`, { method, redirect: 'manual' })),
    );
    expect([address, head?.status, await head?.text()]).toEqual([address, got?.status, '']);
    expect(head?.headers.get('content-length')).toBe(got?.headers.get('content-length'));
  }
});

it('lets a file with a hash in its name be kept, and answers a repeat without it', async () => {
  const url = await served(built());
  const file = await fetch(`${url}/console/${SCRIPT}`);
  expect([file.status, await file.text()]).toEqual([200, 'export const one = 1;']);
  expect(file.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
  expect(file.headers.get('content-encoding')).toBe('gzip');
  expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  const tag = file.headers.get('etag') ?? '';
  const again = await fetch(`${url}/console/${SCRIPT}`, { headers: { 'if-none-match': tag } });
  expect(again.status).toBe(304);
  const plain = await fetch(`${url}/console/${SCRIPT}`, { headers: { 'accept-encoding': 'identity' } });
  expect([plain.headers.get('content-encoding'), await plain.text()]).toEqual([
    null,
    'export const one = 1;',
  ]);
});

it.each([
  ['/console/assets/index-old.js', 404],
  ['/console/assets/../.stamp', 200],
  ['/console/%2e%2e%2fpackage.json', 200],
  ['/api/v1/nothing', 404],
  ['/api', 404],
])('hands out nothing but what was built: GET %s', async (address, status) => {
  const url = await served(built());
  const answer = await fetch(`${url}${address}`);
  const text = await answer.text();
  expect([answer.status, text.includes('not a page'), text.includes('dependencies')]).toEqual([
    status,
    false,
    false,
  ]);
  if (status === 404) expect(JSON.parse(text)).toEqual({ detail: 'Not Found', code: 'not_found' });
});

it('serves nothing where nothing was built', async () => {
  const app: FastifyInstance = Fastify();
  registerConsole(app, path.join(tempDir(), 'missing'));
  expect((await app.inject({ url: '/' })).statusCode).toBe(404);
  await app.close();
});
