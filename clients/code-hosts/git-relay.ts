/**
 * The way of a sandbox to its repositories: an HTTP server on a unix socket that is bound into every sandbox.
 * Owns who may read what, the bound on parallel work and the answers to refused calls; the two kinds of repository
 * are served by local-backend.ts and upstream.ts. Never buffers a pack, never logs a token.
 */
import { chmod, lstat, mkdir, unlink } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { dirname } from 'node:path';
import { Agent } from 'undici';
import { ConnectionShares } from '../../core/shares/connection-shares.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { repeatedHeader, severalHeaders } from '../../core/repeated-header.ts';
import { createTurnstile, type Turnstile } from '../../core/shares/turnstile.ts';
import type { CodeHosts, RepositoryLocation } from './code-hosts.ts';
import { parseGitRequest, tokenOf, type GitRead } from './git-request.ts';
import { localLfs } from './lfs-local.ts';
import { upstreamLfs } from './lfs-upstream.ts';
import { serveLfs, type LfsRead } from './lfs.ts';
import {
  CONNECTIONS_MAX,
  CONNECTIONS_PER_CALLER_MAX,
  PROGRESS_BYTES_MIN,
  PROGRESS_MS,
  REQUEST_TIMEOUT_MS,
  RETRY_AFTER_S,
  SERVED_MAX,
  SERVED_PER_CALLER_MAX,
  WAITING_MAX,
} from './limits.ts';
import { serveLocal } from './local-backend.ts';
import { serveUpstream } from './upstream.ts';

export interface GitRelayOptions {
  /** At most 107 bytes. A socket left there by an earlier process is replaced. */
  readonly socketPath: string;
  readonly codeHosts: CodeHosts;
  /**
   * Whether the caller may read the repository. `token` comes from `Authorization` (`Bearer`, or the password of
   * `Basic`) and is null when the caller gave none. A refusal without a token is 401, with one 403.
   */
  readonly allow: (token: string | null, provider: string, name: string) => boolean | Promise<boolean>;
  /** Value of the `Authorization` header for the code host; null for a public repository. `token` names the caller. */
  readonly authorization?: (
    provider: string,
    name: string,
    token: string | null,
  ) => string | null | Promise<string | null>;
  /** Whose places and connections a caller takes; by default each token's own. */
  readonly ownerOf?: (token: string | null) => string | Promise<string>;
  /** Lower than the default where the process may open few descriptors. */
  readonly connectionsMax?: number;
  /** How long a caller may take next to nothing of what is ready for it. */
  readonly progressMs?: number;
  /** Receives what an operator should know: the repository and the reason, never a credential. */
  readonly warn: (text: string) => void;
}

/** An HTTP server for Git on a unix socket, as sandboxes have it bound in. */
export interface GitRelay {
  /** @throws Error the socket cannot be made */
  listen(): Promise<void>;
  /** Ends running transfers. Closing twice is harmless. */
  close(): Promise<void>;
}

interface Context {
  readonly options: GitRelayOptions;
  readonly turnstile: Turnstile;
  readonly shares: ConnectionShares<Socket>;
  readonly dispatcher: Agent;
}

/**
 * Clone URL inside a sandbox: `http://127.0.0.1:4102/{provider}/{owner}/{repo}.git`, or as its address says.
 * Reading only, what Git LFS keeps included: a push is answered with 403.
 */
export function createGitRelay(options: GitRelayOptions): GitRelay {
  const { connectionsMax = CONNECTIONS_MAX, warn } = options;
  const turnstile = createTurnstile({
    insideMax: SERVED_MAX,
    waitingMax: WAITING_MAX,
    perOwnerMax: SERVED_PER_CALLER_MAX,
  });
  const shares = new ConnectionShares<Socket>(
    { max: connectionsMax, perOwnerMax: CONNECTIONS_PER_CALLER_MAX },
    (strike) => warn(`Cannot keep a connection to the Git relay: too many of ${strike}`),
  );
  const context: Context = { options, turnstile, shares, dispatcher: new Agent() };
  const server = createServer((request, response) => {
    void serve(context, request, response);
  });
  server.requestTimeout = REQUEST_TIMEOUT_MS;
  server.maxConnections = connectionsMax;
  server.on('connection', (socket) => shares.opened(socket));
  return {
    listen: () => listen(server, options.socketPath),
    async close() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await context.dispatcher.destroy();
    },
  };
}

async function listen(server: Server, socketPath: string): Promise<void> {
  await mkdir(dirname(socketPath), { recursive: true, mode: 0o700 });
  const stat = await lstat(socketPath).catch(() => null);
  if (stat?.isSocket() === true) await unlink(socketPath);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(socketPath, resolve);
  });
  await chmod(socketPath, 0o600);
}

async function serve(context: Context, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const read = parseGitRequest(request.method ?? '', request.url ?? '');
  if (read.kind === 'refused') return refuse(response, read.status, read.reason);
  const gone = new AbortController();
  response.once('close', () => gone.abort());
  try {
    await serveAllowed(context, { read, request, response, gone: gone.signal });
  } catch (error) {
    if (!gone.signal.aborted) fail(context, read, response, error);
  }
}

interface Exchange {
  readonly read: GitRead | LfsRead;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** The caller went away. */
  readonly gone: AbortSignal;
}

/** A caller that may not read takes no place: its turn is waited for only after that check. */
async function serveAllowed(context: Context, exchange: Exchange): Promise<void> {
  const { read, request, response } = exchange;
  const { options } = context;
  const location = locateOrNull(options.codeHosts, read);
  if (location === null) return refuse(response, 404, 'no such repository');
  if (repeatedHeader(request.rawHeaders, ['authorization']) !== null)
    return refuse(response, 401, severalHeaders('Authorization'));
  const token = tokenOf(request.headers.authorization);
  if (!(await options.allow(token, location.provider, location.name))) {
    if (token !== null) return refuse(response, 403, 'this token does not open the repository');
    response.setHeader('www-authenticate', 'Basic realm="git", charset="UTF-8"');
    return refuse(response, 401, 'a token is needed');
  }
  const owner = (await options.ownerOf?.(token)) ?? token ?? '';
  const leave = context.shares.belongsTo(request.socket, owner)
    ? await turnOf(context.turnstile, owner)
    : null;
  if (leave === null) {
    response.setHeader('retry-after', RETRY_AFTER_S);
    response.setHeader('connection', 'close');
    return refuse(response, 503, 'too many transfers at once');
  }
  try {
    await serveInTurn(context, exchange, { location, token });
  } finally {
    leave();
  }
}

/** Null when too many wait already. */
function turnOf(turnstile: Turnstile, owner: string): Promise<(() => void) | null> {
  return new Promise((resolve) => {
    if (!turnstile.enter(owner, resolve)) resolve(null);
  });
}

interface Allowed {
  readonly location: RepositoryLocation;
  readonly token: string | null;
}

async function serveInTurn(context: Context, exchange: Exchange, allowed: Allowed): Promise<void> {
  const { response, gone } = exchange;
  const { options } = context;
  const progress = withoutProgress(exchange, options.progressMs ?? PROGRESS_MS);
  const signal = AbortSignal.any([gone, progress.signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]);
  try {
    if (signal.aborted) return;
    if (!(await serveLocation(context, { ...exchange, signal }, allowed)))
      refuse(response, 404, 'no such repository');
  } finally {
    progress.stop();
  }
}

interface TimedExchange extends Exchange {
  readonly signal: AbortSignal;
}

async function serveLocation(
  context: Context,
  exchange: TimedExchange,
  { location, token }: Allowed,
): Promise<boolean> {
  const { place, provider, name } = location;
  const { read, signal } = exchange;
  switch (place.kind) {
    case 'directory':
      return read.kind === 'lfs'
        ? await serveLfs(localLfs(place, signal), { ...exchange, read })
        : await serveLocal({ ...exchange, read, place });
    case 'remote': {
      const authorization = (await context.options.authorization?.(provider, name, token)) ?? null;
      const host = { url: place.url, authorization, signal, dispatcher: context.dispatcher };
      return read.kind === 'lfs'
        ? await serveLfs(upstreamLfs(host), { ...exchange, read })
        : await serveUpstream({ ...exchange, ...host, read });
    }
    default:
      return place satisfies never;
  }
}

/** Unknown providers look like missing repositories. */
function locateOrNull(codeHosts: CodeHosts, read: GitRead | LfsRead): RepositoryLocation | null {
  try {
    return codeHosts.locate(read);
  } catch (error) {
    if (error instanceof ParleyError) return null;
    throw error;
  }
}

function refuse(response: ServerResponse, status: number, reason: string): void {
  response.writeHead(status, { 'content-type': 'text/plain; charset=utf-8', connection: 'close' });
  response.end(`${reason}\n`);
}

/** What was sent already cannot be taken back: then the connection breaks, and the client sees it. */
function fail({ options }: Context, read: GitRead | LfsRead, response: ServerResponse, error: unknown): void {
  const reason = error instanceof Error ? error.message : String(error);
  options.warn(`Cannot serve repository "${read.provider}/${read.name}": ${reason}`);
  if (response.headersSent) response.destroy();
  else refuse(response, 502, 'the repository could not be read');
}

/** Whether a caller of the Git relay takes what is ready for it. */
interface Progress {
  /** Aborts when the caller has made none for too long. */
  readonly signal: AbortSignal;
  stop(): void;
}

/** Checks a few times within the time, so that the caller has hardly more than that. */
const LOOKS = 4;

function withoutProgress(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  withinMs: number,
): Progress {
  const stuck = new AbortController();
  const { socket } = request;
  let moved = 0;
  let looksWithout = 0;
  const timer = setInterval(() => {
    const now = socket.bytesRead + socket.bytesWritten;
    const isOurs = request.complete && !response.writableNeedDrain;
    if (isOurs || now - moved >= PROGRESS_BYTES_MIN) {
      moved = now;
      looksWithout = 0;
      return;
    }
    looksWithout += 1;
    if (looksWithout > LOOKS) stuck.abort(new Error('the caller does not take the answer'));
  }, withinMs / LOOKS);
  timer.unref();
  return { signal: stuck.signal, stop: () => clearInterval(timer) };
}
