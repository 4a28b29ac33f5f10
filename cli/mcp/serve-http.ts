/**
 * The tools over Streamable HTTP: who may come, and the sessions of those who do.
 * Owns key, Host and Origin, the bound on bodies and sessions; what a call does is the server's.
 */
import { randomUUID } from 'node:crypto';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { isInitializeRequest } from '@modelcontextprotocol/sdk/types.js';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify';
import { sameText } from '../../api/session-auth.ts';
import { severalHeaders, repeatedHeader } from '../../core/repeated-header.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { answerErrors } from '../../api/error-answer.ts';
import { isLoopback, listening } from '../../host/listening.ts';

export interface HttpPlace {
  readonly host: string;
  /** 0 takes a free one. */
  readonly port: number;
  readonly key: string;
  /** Names under which it is reached besides its own address, with the port where it is not that of the scheme. */
  readonly allowedHosts: readonly string[];
  /** Origins of pages that may call; none by default. */
  readonly allowedOrigins: readonly string[];
  /** A server of its own for each client. */
  createServer(): Server;
}

export interface McpHttp {
  /** Address of the one path that is served. */
  readonly url: string;
  close(): Promise<void>;
}

export const MCP_PATH = '/mcp';
/** A job as text, with room. */
const BODY_BYTES_MAX = 4 * 1024 * 1024;
/** Agents of one operator; each holds a little memory, and the one that said nothing for longest makes room. */
const SESSIONS_MAX = 100;
/** Who says nothing for so long has left without a word. */
const IDLE_MS_MAX = 60 * MINUTE_MS;

interface Session {
  readonly transport: StreamableHTTPServerTransport;
  lastAt: number;
  /** Answers under way: who waits has not left. */
  open: number;
}

/** @throws CliError when the address cannot be listened on */
export async function serveHttp(place: HttpPlace): Promise<McpHttp> {
  const app = Fastify({ logger: false, bodyLimit: BODY_BYTES_MAX, forceCloseConnections: true });
  answerErrors(app);
  const sessions = new Map<string, Session>();
  const hosts = new Set(place.allowedHosts);
  app.addHook('onRequest', async (request, reply) => {
    admit(request, { ...place, hosts }, reply);
  });
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: MCP_PATH,
    handler: async (request, reply) => {
      const session = await sessionOf(request, sessions, place);
      reply.hijack();
      session.open += 1;
      reply.raw.once('close', () => {
        session.open -= 1;
        session.lastAt = Date.now();
      });
      await session.transport.handleRequest(request.raw, reply.raw, request.body);
    },
  });
  const { host, port: wanted } = place;
  const address = await listening(place, () => app.listen({ host, port: wanted }));
  const { port } = new URL(address);
  for (const name of namesOf(place.host)) hosts.add(`${name}:${port}`);
  return {
    url: `${address}${MCP_PATH}`,
    async close() {
      await Promise.all([...sessions.values()].map(({ transport }) => transport.close()));
      await app.close();
    },
  };
}

/** A page that has this machine's name resolved to its own is kept out by what it must say: the name it asked for. */
function namesOf(host: string): readonly string[] {
  const own = host.includes(':') ? `[${host}]` : host;
  return isLoopback(host) ? [own, 'localhost', '127.0.0.1', '[::1]'] : [own];
}

interface Admission extends Pick<HttpPlace, 'key' | 'allowedOrigins'> {
  readonly hosts: ReadonlySet<string>;
}

/** Before the body is read. @throws ParleyError forbidden, unauthorized */
function admit(
  { headers, raw }: FastifyRequest,
  { key, allowedOrigins, hosts }: Admission,
  reply: FastifyReply,
): void {
  const { host = '', origin } = headers;
  if (!hosts.has(host.toLowerCase()))
    throw new ParleyError('forbidden', `Cannot answer for the host "${host.slice(0, 200)}"`, {
      remedy: 'name it with --allow-host',
    });
  if (origin !== undefined && !allowedOrigins.includes(origin))
    throw new ParleyError('forbidden', 'Cannot answer a page of this origin', {
      remedy: 'name it with --allow-origin',
    });
  const several = repeatedHeader(raw.rawHeaders, ['authorization']);
  if (several !== null) throw new ParleyError('unauthorized', severalHeaders('Authorization'));
  const [, given = ''] = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '') ?? [];
  if (sameText(given, key)) return;
  void reply.header('www-authenticate', 'Bearer');
  throw new ParleyError('unauthorized', 'Unauthorized');
}

/** @throws ParleyError not_found, which lets a client begin anew */
async function sessionOf(
  { headers, body }: FastifyRequest,
  sessions: Map<string, Session>,
  place: HttpPlace,
): Promise<Session> {
  const id = headers['mcp-session-id'];
  if (typeof id === 'string') {
    const known = sessions.get(id);
    if (known === undefined) throw new ParleyError('not_found', 'Session not found');
    known.lastAt = Date.now();
    return known;
  }
  const messages: readonly unknown[] = Array.isArray(body) ? body : [body];
  if (!messages.some((message) => isInitializeRequest(message)))
    throw new ParleyError(
      'invalid_request',
      'Cannot answer: there is no session, and this does not begin one',
    );
  await makeRoom(sessions);
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: randomUUID,
    onsessioninitialized: (name) => void sessions.set(name, session),
  });
  const session: Session = { transport, lastAt: Date.now(), open: 0 };
  transport.onclose = () => void sessions.delete(transport.sessionId ?? '');
  // The library's own type of a transport has optional members that its classes spell with undefined.
  await place.createServer().connect(transport as never);
  return session;
}

async function makeRoom(sessions: Map<string, Session>): Promise<void> {
  const quiet = [...sessions.values()].filter(({ open }) => open === 0).sort((a, b) => a.lastAt - b.lastAt);
  const tooOld = quiet.filter(({ lastAt }) => Date.now() - lastAt > IDLE_MS_MAX);
  const [oldest] = quiet;
  const isFull = sessions.size - tooOld.length >= SESSIONS_MAX;
  if (isFull && oldest === undefined)
    throw new ParleyError(
      'rate_limited',
      `Cannot take another client: ${SESSIONS_MAX} are waiting for answers`,
    );
  const leaving = isFull && tooOld.length === 0 && oldest !== undefined ? [oldest] : tooOld;
  await Promise.all(leaving.map(({ transport }) => transport.close()));
}
