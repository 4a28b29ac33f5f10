/**
 * Repositories of a code host, relayed.
 * Owns the outgoing request: which headers go out and come back, and where a redirect may lead.
 * Credentials travel in one header, never in a URL, an error or a log.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { request as send, type Dispatcher } from 'undici';
import type { GitRead } from './git-request.ts';
import { REDIRECTS_MAX, UPSTREAM_SILENCE_MS } from './limits.ts';

export interface UpstreamCall {
  readonly read: GitRead;
  /** Clone URL of the repository, without a trailing slash or credential. */
  readonly url: string;
  /** Value of `Authorization`; null for a public repository. */
  readonly authorization: string | null;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
  readonly dispatcher: Dispatcher;
}

/** What the Git protocol needs; nothing else of a sandbox's request leaves. */
const REQUEST_HEADERS = ['accept', 'content-type', 'content-encoding', 'git-protocol'] as const;
const RESPONSE_HEADERS = ['content-type', 'content-encoding', 'cache-control', 'expires', 'pragma'] as const;
/** Some hosts answer only Git's own clients. */
export const USER_AGENT = 'git/2 parley';

/**
 * Streams the host's answer; false when the host has no such repository, or none for this credential.
 * @throws Error the host failed or led elsewhere; the message names its status only
 */
export async function serveUpstream(call: UpstreamCall): Promise<boolean> {
  const answer = await ask(call);
  const { statusCode: status, headers, body } = answer;
  if (status === 401 || status === 403 || status === 404) {
    await body.dump();
    return false;
  }
  if (status !== 200) {
    await body.dump();
    throw new Error(`the code host answered ${status}`);
  }
  for (const name of RESPONSE_HEADERS) {
    const value = headers[name];
    if (value !== undefined) call.response.setHeader(name, value);
  }
  call.response.writeHead(status);
  await pipeline(body, call.response);
  return true;
}

/** A renamed repository is found again on the same host; the body of a POST cannot be sent twice. */
async function ask(call: UpstreamCall): Promise<Dispatcher.ResponseData> {
  let url = new URL(call.url + call.read.endpoint);
  if (call.read.endpoint === '/info/refs') url.search = 'service=git-upload-pack';
  for (let redirects = 0; ; redirects += 1) {
    const answer = await sendOnce(call, url);
    const { location } = answer.headers;
    if (answer.statusCode < 300 || answer.statusCode > 399 || typeof location !== 'string') return answer;
    await answer.body.dump();
    const next = new URL(location, url);
    if (next.origin !== url.origin) throw new Error('the code host redirects to another host');
    if (call.read.endpoint !== '/info/refs' || redirects >= REDIRECTS_MAX) {
      throw new Error('the code host redirects; use the current name of the repository');
    }
    url = next;
  }
}

function sendOnce(call: UpstreamCall, url: URL): Promise<Dispatcher.ResponseData> {
  const isPost = call.read.endpoint === '/git-upload-pack';
  return send(url, {
    method: isPost ? 'POST' : 'GET',
    headers: { ...forwarded(call.request.headers), ...authorizationHeader(call), 'user-agent': USER_AGENT },
    body: isPost ? call.request : null,
    signal: call.signal,
    dispatcher: call.dispatcher,
    headersTimeout: UPSTREAM_SILENCE_MS,
    bodyTimeout: UPSTREAM_SILENCE_MS,
  });
}

function forwarded(headers: IncomingHttpHeaders): Record<string, string> {
  const found: Record<string, string> = {};
  for (const name of REQUEST_HEADERS) {
    const value = headers[name];
    if (typeof value === 'string') found[name] = value;
  }
  return found;
}

function authorizationHeader({ authorization }: UpstreamCall): Record<string, string> {
  return authorization === null ? {} : { authorization };
}
