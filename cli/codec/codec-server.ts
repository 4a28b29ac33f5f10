/**
 * The codec server: decrypts payloads for Temporal's web UI and command line, which hold no key.
 * Owns who may call it: pages of the named origins, and clients with the token, when there is one.
 * Must not log or keep what it decodes.
 */
import Fastify, { type FastifyInstance, type FastifyRequest } from 'fastify';
import type { PayloadCodec, Payload } from '@temporalio/common';
import { z } from 'zod';
import { answerErrors } from '../../api/error-answer.ts';
import { sameText } from '../../api/session-auth.ts';
import { ParleyError } from '../../core/parley-error.ts';
import { repeatedHeader, severalHeaders } from '../../core/repeated-header.ts';

/** A page of a history is at most 4 MiB, which base64 makes longer by a third; the rest is room. */
const BODY_BYTES_MAX = 8 * 1024 * 1024;
/** How long a browser may keep the answer to a preflight request. */
const PREFLIGHT_SECONDS = 600;
/** What the web UI sends. */
const REQUEST_HEADERS = 'authorization,content-type,x-namespace';

export interface CodecServerOptions {
  readonly codec: PayloadCodec;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Origins of web pages that may call it, such as `http://127.0.0.1:8233`. */
  readonly allowedOrigins: readonly string[];
  /** What `Authorization: Bearer` must hold; null requires nothing. */
  readonly token: string | null;
}

export interface CodecServer {
  /** Address with the port in use. */
  readonly url: string;
  close(): Promise<void>;
}

/** @throws Error of Node when the address cannot be listened on */
export async function startCodecServer(options: CodecServerOptions): Promise<CodecServer> {
  const app = Fastify({ logger: false, bodyLimit: BODY_BYTES_MAX, forceCloseConnections: true });
  answerErrors(app);
  guard(app, options);
  const { codec } = options;
  app.post('/decode', (request) => convert(request, (payloads) => codec.decode(payloads)));
  app.post('/encode', (request) => convert(request, (payloads) => codec.encode(payloads)));
  const url = await app.listen({ host: options.host, port: options.port });
  return { url, close: () => app.close() };
}

async function convert(request: FastifyRequest, by: PayloadCodec['decode']): Promise<unknown> {
  const parsed = payloadsSchema.safeParse(request.body);
  if (!parsed.success) throw new ParleyError('invalid_request', z.prettifyError(parsed.error));
  return payloadsToJson(await by(payloadsFromJson(parsed.data)));
}

/**
 * A browser sends the origin with every request across origins, and with every POST: a page that is not listed is
 * refused also when its own host name resolves to this server. Programs send no origin.
 */
function guard(app: FastifyInstance, { allowedOrigins, token }: CodecServerOptions): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers;
    if (origin !== undefined) {
      if (!allowedOrigins.includes(origin)) {
        throw new ParleyError('forbidden', 'Cannot answer this page: its origin is not allowed');
      }
      reply.headers(corsHeaders(origin));
    }
    if (request.method === 'OPTIONS') return reply.code(204).send();
    if (repeatedHeader(request.raw.rawHeaders, ['authorization']) !== null)
      throw new ParleyError('unauthorized', severalHeaders('Authorization'));
    if (token !== null && !sameText(request.headers.authorization ?? '', `Bearer ${token}`)) {
      throw new ParleyError('unauthorized', 'Cannot answer: the bearer token is missing or wrong');
    }
  });
}

function corsHeaders(origin: string): Record<string, string> {
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': REQUEST_HEADERS,
    'access-control-max-age': `${PREFLIGHT_SECONDS}`,
    vary: 'origin',
  };
}

const payloadSchema = z.object({
  metadata: z.record(z.string(), z.base64()).optional(),
  data: z.base64().optional(),
});

/** Fields it does not name are left out of the answer, as by any reader of this format. */
const payloadsSchema = z.object({ payloads: z.array(payloadSchema).optional() });
export type PayloadsJson = z.infer<typeof payloadsSchema>;

export function payloadsFromJson({ payloads }: PayloadsJson): Payload[] {
  return (payloads ?? []).map(({ metadata, data }) => ({
    metadata: mapValues(metadata ?? {}, (value) => Buffer.from(value, 'base64')),
    data: Buffer.from(data ?? '', 'base64'),
  }));
}

export function payloadsToJson(payloads: readonly Payload[]): PayloadsJson {
  return {
    payloads: payloads.map(({ metadata, data }) => ({
      metadata: mapValues(metadata ?? {}, base64),
      data: base64(data ?? new Uint8Array(0)),
    })),
  };
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

function mapValues<A, B>(record: Readonly<Record<string, A>>, map: (value: A) => B): Record<string, B> {
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [name, map(value)]));
}
