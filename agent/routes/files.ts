/**
 * Single files in and out of the sandbox, byte for byte: who collects them scans them for secrets (D20).
 */
import { stat } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';

import { HttpError } from '../serve/http-error.ts';
import { UPLOAD_BYTES_MAX } from '../limits.ts';
import type { ServerContext } from '../serve/server-context.ts';
import { moveReachable, openReachable, removeReachable, writeReachable } from '../tool-files.ts';
import { parsePart } from '../serve/wire-schema.ts';
import { SUCCESS } from './find-conversation.ts';

const querySchema = z.object({ path: z.string().min(1) });

export function addFileRoutes(server: FastifyInstance, context: ServerContext): void {
  server.post('/api/file/upload', (request) => context.activity.during(() => upload(request, context)));
  server.get('/api/file/download', async (request, reply) => {
    context.activity.touch();
    return await download(request, reply);
  });
}

/** @throws HttpError 400 the path is not absolute */
function absolutePath(request: FastifyRequest): string {
  const { path } = parsePart(querySchema, request.query, 'query');
  if (!isAbsolute(path) || path.includes('\0')) throw new HttpError(400, 'Path must be absolute');
  return path;
}

async function upload(request: FastifyRequest, context: ServerContext): Promise<Record<string, unknown>> {
  const path = absolutePath(request);
  if (!request.isMultipart())
    throw new HttpError(422, [{ type: 'missing', loc: ['body', 'file'], msg: 'Field required' }]);
  const part = await request.file({ limits: { fileSize: UPLOAD_BYTES_MAX, files: 1 } });
  if (part === undefined)
    throw new HttpError(422, [{ type: 'missing', loc: ['body', 'file'], msg: 'Field required' }]);
  if ((await stat(path).catch(() => null))?.isDirectory() === true)
    throw new HttpError(400, 'Path is a directory');
  // Beside its place, so that a reader sees the old file or the new one and never half of it.
  const fresh = `${path}.${context.world.uuid()}.upload`;
  try {
    await writeReachable(fresh, part.file);
    if (part.file.truncated) throw new HttpError(413, `File is larger than ${UPLOAD_BYTES_MAX} bytes`);
    if (!part.file.readableEnded) throw new HttpError(400, 'Upload broke off');
    await moveReachable(fresh, path);
  } catch (error) {
    await removeReachable(fresh);
    throw error;
  }
  return { ...SUCCESS, file_size: part.file.bytesRead };
}

async function download(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const path = absolutePath(request);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new HttpError(404, 'File not found');
  if (!found.isFile()) throw new HttpError(400, 'Path is not a file');
  // Opened before the answer begins: one that breaks off would look like a server that is gone.
  const file = await openReachable(path).catch(() => null);
  if (file === null) throw new HttpError(403, 'File cannot be read');
  return reply
    .header('content-type', 'application/octet-stream')
    .header('content-disposition', `attachment; filename*=UTF-8''${encodeURIComponent(basename(path))}`)
    .send(file.createReadStream());
}
