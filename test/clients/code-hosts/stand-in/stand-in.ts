/**
 * A stand-in for the interfaces of GitHub, GitLab and Gitea: it is none of them.
 * It answers calls to them in the shapes of their official OpenAPI documents (for GitHub the types
 * of its client, which are made from that document), from one set of issues and pull
 * requests in memory. Owns its record of requests, refusals on demand, and what it imitates; whether the real hosts
 * do the same is not shown here.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CodeHostKind } from '../../../../core/plan/plan-issue.ts';
import { giteaVoice } from './gitea-voice.ts';
import { githubVoice } from './github-voice.ts';
import { gitlabVoice } from './gitlab-voice.ts';

import { REPOSITORY, TOKEN, type Call, type StandIn, type Voice } from './stand-in-model.ts';

const VOICES: Readonly<Record<CodeHostKind, { readonly path: string; readonly voice: Voice }>> = {
  github: { path: '/api/v3', voice: githubVoice },
  gitlab: { path: '/api/v4', voice: gitlabVoice },
  gitea: { path: '/api/v1', voice: giteaVoice },
};

/** Of one repository, `acme/app`, which only the token opens. */
export async function startStandIn(kind: CodeHostKind, port = 0): Promise<StandIn> {
  const { path, voice } = VOICES[kind];
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const host: StandIn = {
    url: `${origin}${path}`,
    origin,
    ...{ issues: [], pulls: [], labels: ['bug', 'agent'], users: ['ann', 'bob'], calls: [], credentials: [] },
    before: () => null,
    after: () => Promise.resolve(),
    nextNumber: () => 1 + Math.max(0, ...[...host.issues, ...host.pulls].map(({ number }) => number)),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return host;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams: query } = new URL(request.url ?? '', origin);
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    const text = Buffer.concat(pieces).toString();
    const body = text === '' ? {} : (JSON.parse(text) as Call['body']);
    const call = {
      method: request.method ?? '',
      path: decodeURIComponent(pathname.slice(path.length)),
      query,
      body,
    };
    host.calls.push(`${call.method} ${call.path}`);
    const credential = request.headers.authorization ?? String(request.headers['private-token'] ?? '');
    host.credentials.push(credential);
    const isKnown =
      credential === TOKEN || credential === `token ${TOKEN}` || credential === `Bearer ${TOKEN}`;
    const refusal =
      (await host.before(call)) ?? (isKnown ? null : { status: 401, body: { message: 'Bad credentials' } });
    const said = refusal ?? voice(host, call) ?? { status: 404, body: { message: 'Not Found' } };
    await host.after(call);
    response.writeHead(said.status ?? 200, { 'content-type': 'application/json', ...said.headers });
    response.end(said.body === undefined ? '' : JSON.stringify(said.body));
  }
}

export { REPOSITORY, TOKEN, type StandIn };
