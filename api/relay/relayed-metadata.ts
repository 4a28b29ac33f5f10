/**
 * A change of title or tags on its way to an Agent Server, seen in passing (D21).
 * Owns the recognising; the body goes on byte for byte.
 */
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { ParleyError } from '../../core/parley-error.ts';
import { bodyText, jsonBody } from '../application/json-body.ts';
import { InvalidRequest } from '../application/validation.ts';
import { tagsIn } from '../conversations/start-request.ts';

const PATH = /^api\/conversations\/([0-9a-fA-F-]{32,36})$/;
/** Fifty tags of 256 characters fit many times. */
const BYTES_MAX = 262_144;

const bodySchema = z.object({
  title: z.string().trim().min(1).max(200).nullish(),
  tags: tagsIn.nullish(),
});

export interface RelayedMetadata {
  readonly conversationId: string;
  readonly title: string | null;
  readonly tags: Readonly<Record<string, string>> | null;
  readonly bytes: Buffer;
}

/** Null for any other request, whose body is not touched. @throws ParleyError request_too_large, invalid_request: no text */
export async function metadataIn(
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
