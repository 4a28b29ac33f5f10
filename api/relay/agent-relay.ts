/**
 * The Agent Server's own HTTP surface under one address per sandbox (spec "Authentication", D5, D14).
 * Owns who is let through: the session key of the present generation; a change of tags passes on to the record (D21).
 */
import {
  request as httpRequest,
  type IncomingMessage,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http';
import { type Readable, PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { reachableAgent } from '../../activities/agent-target.ts';
import { conversationId as asConversationId, sandboxId as asSandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { AgentAddress } from '../../ports/agent-server.ts';
import type { Application, SandboxCaller } from '../application/application.ts';
import type { Gate } from '../application/gate.ts';
import { bodyText, jsonBody } from '../application/json-body.ts';
import { InvalidRequest } from '../application/validation.ts';
import { tagsIn } from '../conversations/start-request.ts';

/**
 * What clients request without a key, to see whether they may begin. The answer is ours, from the record: nothing that
 * a sandbox says reaches a client without a key for it (D31).
 */
const HEALTH_ANSWERS: Readonly<Record<string, string>> = { alive: 'ok', health: 'ok', ready: 'ready' };
/** Between two bytes; a long command of an agent is silent for as long as it may run. */
const SILENCE_MS_MAX = 3_600_000;

export function registerAgentRelay(app: FastifyInstance, application: Application, gate: Gate): void {
  void app.register((relay, _options, done) => {
    // Bodies pass as they come: they are the Agent Server's to read.
    relay.removeAllContentTypeParsers();
    relay.addContentTypeParser('*', (_request, payload, next) => next(null, payload));
    relay.route({
      method: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
      url: '/sandboxes/:sandbox_id/agent/*',
      onRequest: async (request) => {
        if (healthAnswer(request) === null) request.caller = await gate.admit('session', request);
      },
      handler: async (request, reply) => {
        const status = healthAnswer(request);
        if (status === null) return await forward(application, request, reply);
        await addressOf(application, request);
        return await reply.send({ status });
      },
    });
    done();
  });
}

function restOf(request: FastifyRequest): string {
  return (request.params as { readonly '*': string })['*'];
}

/** Null for everything that needs a key. */
function healthAnswer(request: FastifyRequest): string | null {
  const path = restOf(request);
  const isHealth = ['GET', 'HEAD'].includes(request.method) && Object.hasOwn(HEALTH_ANSWERS, path);
  return isHealth ? (HEALTH_ANSWERS[path] ?? null) : null;
}

async function forward(
  application: Application,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const address = await addressOf(application, request);
  const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : '';
  const body = (request.body as Readable | undefined) ?? null;
  const metadata = body === null ? null : await metadataIn(request, restOf(request), body);
  const answer = await send(application, address, {
    method: request.method,
    path: `/${restOf(request)}${query}`,
    headers: requestHeaders(request.headers),
    body: metadata?.bytes ?? body,
  });
  const said = answer.statusCode ?? 0;
  // One that HTTP does not know, or that would lead a client somewhere else, is no answer.
  const status = (said >= 200 && said < 300) || (said >= 400 && said < 600) ? said : 502;
  if (metadata !== null && status < 300)
    await tellRecord(application, request.caller as SandboxCaller, metadata);
  // A stream of ours: the library would otherwise add its own idea of a length.
  const passed = new PassThrough();
  answer.on('error', (error) => passed.destroy(error));
  return await reply.code(status).headers(answerHeaders(answer.headers)).send(answer.pipe(passed));
}

/** The sandbox must be up: a key alone brings nothing back. @throws ParleyError sandbox_starting */
async function addressOf({ world }: Application, request: FastifyRequest): Promise<AgentAddress> {
  const { sandbox_id: id } = request.params as { readonly sandbox_id: string };
  const sandbox = await world.records.sandbox(asSandboxId(id));
  if (sandbox?.available !== true) throw new ParleyError('not_found', 'Not Found');
  const { sandboxId, generation } = sandbox;
  const { address } = await reachableAgent(world, { sandboxId, generation });
  return address;
}

interface Passed {
  readonly method: string;
  readonly path: string;
  readonly headers: ReturnType<typeof requestHeaders>;
  readonly body: Readable | Buffer | null;
}

async function send(
  { relay }: Application,
  address: AgentAddress,
  { method, path, headers, body }: Passed,
): Promise<IncomingMessage> {
  const socket = await relay.connect(address).catch((error: unknown) => {
    throw new ParleyError('agent_unreachable', 'Cannot reach the Agent Server', { cause: error });
  });
  return await new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      createConnection: () => socket as never,
      method,
      path,
      headers,
      timeout: SILENCE_MS_MAX,
    });
    outgoing.once('timeout', () => outgoing.destroy());
    outgoing.once('response', resolve);
    outgoing.on('error', (error) =>
      reject(new ParleyError('agent_unreachable', 'Cannot reach the Agent Server', { cause: error })),
    );
    if (body === null || Buffer.isBuffer(body)) outgoing.end(body ?? undefined);
    else body.pipe(outgoing);
  });
}

/** Only of a conversation in this sandbox: a key opens nothing else. */
async function tellRecord(
  { world, requests, randomHex }: Application,
  { sandboxId }: SandboxCaller,
  metadata: NonNullable<Awaited<ReturnType<typeof metadataIn>>>,
): Promise<void> {
  const id = asConversationId(metadata.conversationId);
  const row = await world.records.conversation(id);
  if (row?.sandboxId !== sandboxId) return;
  const { title, tags } = metadata;
  await requests.deliver({
    to: { machine: 'conversation', id },
    event: { type: 'metadataChanged', requestId: randomHex(32), title, tags },
  });
}

const OF_ONE_CONNECTION = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'host',
]);
/** An API key opens everything of its user: the inside of a sandbox is no place for it (D20). */
const OURS = new Set(['authorization', 'cookie']);
/** The only headers of an answer that pass. */
const PASSED_BACK = [
  'content-encoding',
  'content-length',
  'content-range',
  'etag',
  'last-modified',
  'retry-after',
] as const;
/** What a browser never runs, whatever is in it; anything else is bytes. */
const DATA_TYPE =
  /^(?:application\/(?:json|jsonl|x-ndjson|octet-stream|zip|gzip)|text\/(?:plain|event-stream))$/;
const BYTES = 'application/octet-stream';
const DISPOSITION = /^attachment; filename(?:\*=UTF-8''|=)[\w.%~-]{1,300}$/;

/** Headers of a request or answer that passes through the relay. */
function requestHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = Object.entries(headers).filter(([name]) => !OF_ONE_CONNECTION.has(name) && !OURS.has(name));
  return { ...Object.fromEntries(passed), host: 'agent', connection: 'close' };
}

export function answerHeaders(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const passed = PASSED_BACK.map((name) => [name, headers[name]] as const).filter(
    ([, value]) => value !== undefined,
  );
  const type = dataType(headers['content-type']);
  const named = headers['content-disposition'] ?? '';
  const attachment = DISPOSITION.test(named) ? named : 'attachment';
  return {
    ...Object.fromEntries(passed),
    'content-type': type,
    ...(type === BYTES ? { 'content-disposition': attachment } : {}),
    'content-security-policy': "sandbox; default-src 'none'; frame-ancestors 'none'",
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  };
}

function dataType(said: string | undefined): string {
  const [type = '', ...parameters] = (said ?? '').toLowerCase().split(';');
  const known = type.trim();
  if (!DATA_TYPE.test(known)) return BYTES;
  return parameters.some((one) => /^\s*charset=utf-?8\s*$/.test(one)) ? `${known}; charset=utf-8` : known;
}

const PATH = /^api\/conversations\/([0-9a-fA-F-]{32,36})$/;
/** Fifty tags of 256 characters fit many times. */
const BYTES_MAX = 262_144;

const bodySchema = z.object({
  title: z.string().trim().min(1).max(200).nullish(),
  tags: tagsIn.nullish(),
});

interface RelayedMetadata {
  readonly conversationId: string;
  readonly title: string | null;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly bytes: Buffer;
}

/** Null for any other request, whose body is not touched. @throws ParleyError request_too_large, invalid_request: no text */
async function metadataIn(
  request: FastifyRequest,
  path: string,
  body: Readable,
): Promise<RelayedMetadata | null> {
  const conversationId = PATH.exec(path)?.[1];
  if (request.method !== 'PATCH' || conversationId === undefined) return null;
  const bytes = await readAll(body);
  const parsed = bodySchema.safeParse(jsonOf(bytes));
  // What is malformed is the Agent Server's to refuse, and changes nothing here.
  const { title = null, tags = null } = parsed.success ? parsed.data : {};
  return { conversationId, title, tags, bytes };
}

async function readAll(body: Readable): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BYTES_MAX)
      throw new ParleyError('request_too_large', 'Cannot take the request: it is too large');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function jsonOf(bytes: Buffer): unknown {
  try {
    return jsonBody(bodyText(bytes));
  } catch (error) {
    if (error instanceof InvalidRequest) throw error;
    return null;
  }
}
