/**
 * What changed in a repository of the sandbox.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isAbsolute } from 'node:path';

import { z } from 'zod';

import { packedFindings } from '../git-findings.ts';
import { GitError } from '../workspace/git.ts';
import { gitChanges, gitDiff, gitPatch } from '../workspace/git-changes.ts';
import { HttpError } from '../serve/http-error.ts';
import type { ServerContext } from '../serve/server-context.ts';
import { parsePart } from '../serve/wire-schema.ts';

const querySchema = z.object({
  path: z.string().min(1),
  ref: z
    .string()
    .max(500)
    .optional()
    .transform((ref) => (ref === undefined || ref === '' ? null : ref)),
});

type GitRead<T> = (path: string, ref: string | null) => Promise<T>;

export function addGitRoutes(server: FastifyInstance, context: ServerContext): void {
  const { vault } = context;
  server.get('/api/git/changes', async (request) =>
    vault.deep(await read(context, request, gitChanges), STATUS_KEY),
  );
  server.get('/api/git/diff', async (request) => vault.deep(await read(context, request, gitDiff)));
  server.get('/api/git/patch', async (request, reply) => {
    const { patch, findings } = await read(context, request, gitPatch);
    const told = vault.deep(findings);
    return reply
      .header('content-type', 'text/plain')
      .header(FINDINGS_HEADER, packedFindings(told))
      .send(patch);
  });
}

/** Sentences as base64url of JSON: what a patch lacks is sent with it, because a second check would cost twice. */
const FINDINGS_HEADER = 'x-patch-findings';

const STATUS_KEY: ReadonlySet<string> = new Set(['status']);

/** @throws HttpError 400 the path is not absolute, or Git refused */
async function read<T>(context: ServerContext, request: FastifyRequest, what: GitRead<T>): Promise<T> {
  const { path, ref } = parsePart(querySchema, request.query, 'query');
  if (!isAbsolute(path) || path.includes('\0')) throw new HttpError(400, 'Path must be absolute');
  try {
    return await context.activity.during(() => what(path, ref));
  } catch (error) {
    if (error instanceof GitError) throw new HttpError(400, error.message);
    throw error;
  }
}
