/**
 * The Agent Server's own HTTP surface under one address per sandbox (spec "Authentication", D5, D14).
 * Owns who is let through: the session key of the present generation; a change of tags passes on to the record (D21).
 */
import { request as httpRequest, type IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { PassThrough } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { agentTarget } from '../../activities/agent-target.ts';
import { conversationId as asConversationId, sandboxId as asSandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxAddress } from '../../ports/sandbox-runtime.ts';
import type { Application, SandboxCaller } from '../application/application.ts';
import type { Gate } from '../application/gate.ts';
import { metadataIn } from './relayed-metadata.ts';
import { answerHeaders, requestHeaders } from './relay-headers.ts';

/**
 * What clients ask without a key, to see whether they may begin. The answer is ours, from the record: nothing that a
 * sandbox says reaches somebody who has no key for it (D31).
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
async function addressOf({ world }: Application, request: FastifyRequest): Promise<SandboxAddress> {
  const { sandbox_id: id } = request.params as { readonly sandbox_id: string };
  const sandbox = await world.records.sandbox(asSandboxId(id));
  if (sandbox?.available !== true) throw new ParleyError('not_found', 'Not Found');
  const { sandboxId, generation } = sandbox;
  const { address } = await agentTarget(world, { sandboxId, generation });
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
  address: SandboxAddress,
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
