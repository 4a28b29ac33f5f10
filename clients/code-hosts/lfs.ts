/**
 * What Git LFS keeps beside a repository, by its own protocol: which objects there are, and each of them.
 * Owns reading a client's question and writing the answer, whose addresses lead back to the relay, so that neither a
 * store's address nor its credential reaches a sandbox. Where the objects are is the source's business.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { z } from 'zod';
import { parsedJson } from '../../core/text/parsed-json.ts';
import { LFS_BATCH_BYTES_MAX, LFS_OBJECTS_MAX } from './limits.ts';

/** A read request of Git LFS; whether it is allowed is decided elsewhere. */
export interface LfsRead {
  readonly kind: 'lfs';
  readonly provider: string;
  readonly name: string;
  /** Null: the question which objects there are. */
  readonly object: LfsObject | null;
}

export interface LfsObject {
  /** SHA-256, 64 hexadecimal digits. */
  readonly oid: string;
  /** Bytes. */
  readonly size: number;
}

/** Null: it is there; else why it is not, as the protocol says it. */
export type LfsFault = { readonly code: number; readonly message: string } | null;

/** Where the objects of one repository are. */
export interface LfsSource {
  /**
   * Of each object, in the order of the question; null when there is no such repository.
   * @throws Error the source failed
   */
  look(objects: readonly LfsObject[]): Promise<readonly LfsFault[] | null>;
  /**
   * Streams one; false when it is not there and nothing was answered.
   * @throws Error the source failed, or the caller went away
   */
  send(object: LfsObject, response: ServerResponse): Promise<boolean>;
}

interface LfsExchange {
  readonly read: LfsRead;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

const MEDIA_TYPE = 'application/vnd.git-lfs+json';
export const OID = /^[0-9a-f]{64}$/;

const batchSchema = z.object({
  operation: z.enum(['download', 'upload']),
  objects: z
    .array(
      z.object({ oid: z.string().regex(OID), size: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER) }),
    )
    .max(LFS_OBJECTS_MAX),
  hash_algo: z.literal('sha256').optional(),
});

/** False when there is no such repository or object. @throws Error as the source does */
export async function serveLfs(source: LfsSource, exchange: LfsExchange): Promise<boolean> {
  const { read, response } = exchange;
  return read.object === null
    ? await answerBatch(source, exchange)
    : await source.send(read.object, response);
}

async function answerBatch(source: LfsSource, { request, response }: LfsExchange): Promise<boolean> {
  const at = addressOf(request);
  const asked = batchSchema.safeParse(await jsonOf(request));
  if (at === null || !asked.success) return say(response, 422, { message: 'this is no question of Git LFS' });
  const { operation, objects } = asked.data;
  if (operation === 'upload')
    return say(response, 403, { message: 'pushing through the relay is not allowed' });
  const faults = await source.look(objects);
  if (faults === null) return false;
  const found = objects.map(({ oid, size }, index) => {
    const fault = faults[index] ?? null;
    if (fault !== null) return { oid, size, error: fault };
    const download = { href: `${at}/${oid}?size=${size}` };
    // Not "authenticated": the address asks for what the question itself was asked for.
    return { oid, size, actions: { download } };
  });
  return say(response, 200, { transfer: 'basic', objects: found, hash_algo: 'sha256' });
}

function say(response: ServerResponse, status: number, body: object): true {
  response.writeHead(status, { 'content-type': MEDIA_TYPE });
  response.end(JSON.stringify(body));
  return true;
}

const HOST = /^[A-Za-z0-9.:[\]-]{1,255}$/;

/** Of objects, as the caller reaches the relay. */
function addressOf({ headers, url = '' }: IncomingMessage): string | null {
  const { host } = headers;
  if (host === undefined || !HOST.test(host)) return null;
  return `http://${host}${url.slice(0, url.lastIndexOf('/'))}`;
}

/** Undefined for what is too much or no JSON. */
async function jsonOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += (chunk as Buffer).length;
    if (bytes > LFS_BATCH_BYTES_MAX) return undefined;
    chunks.push(chunk as Buffer);
  }
  return parsedJson(Buffer.concat(chunks).toString('utf8'));
}
