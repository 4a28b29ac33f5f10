/**
 * The built console as files of this server: pages below `/console/`, and `/` that leads there.
 * Owns headers, caching and what stands for an address that is no file; the console itself asks the API like any client.
 */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ParleyError } from '../../core/parley-error.ts';

const PAGE = 'index.html';
const HOME = '/console/';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Everything from this server and nothing from anywhere else; no text ever becomes markup or code. */
const CONSOLE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  vary: 'accept-encoding',
} as const;

/** A name with a hash in it never holds anything else. */
const FOREVER = 'public, max-age=31536000, immutable';
const ASK_AGAIN = 'no-cache';

interface ConsoleFile {
  readonly bytes: Buffer;
  readonly packed: Buffer;
  readonly type: string;
  readonly tag: string;
  readonly caching: string;
}

/** `folder` is what the build wrote; one that is missing serves nothing. */
export function registerConsole(app: FastifyInstance, folder: string): void {
  void app.register(async (server) => {
    const files = await readConsole(folder);
    const page = files.get(PAGE);
    if (page === undefined) return;
    server.get('/', (_request, reply) => reply.redirect(HOME, 302));
    server.get('/console', (_request, reply) => reply.redirect(HOME, 302));
    server.get('/console/*', (request, reply) => {
      const { '*': name } = request.params as { readonly '*': string };
      const file = files.get(name) ?? (isPage(name) ? page : undefined);
      if (file === undefined) throw new ParleyError('not_found', 'Not Found');
      return answer(request, reply, file);
    });
  });
}

/** An address of the console that is no file is one of its pages; a file that is gone is none. */
function isPage(name: string): boolean {
  return path.posix.extname(name) === '' || !name.startsWith('assets/');
}

function answer(request: FastifyRequest, reply: FastifyReply, file: ConsoleFile): FastifyReply {
  void reply.headers(CONSOLE_HEADERS).header('cache-control', file.caching).header('etag', file.tag);
  void reply.removeHeader('pragma').removeHeader('expires').type(file.type);
  if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
  if (!/\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''))) return reply.send(file.bytes);
  return reply.header('content-encoding', 'gzip').send(file.packed);
}

/** All of it, once: it is a few files, and a newer build of them belongs to the next start. */
async function readConsole(folder: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  const names = await Promise.all(
    listFiles(folder).map(async (name) => [name, await readOne(folder, name)] as const),
  );
  return new Map(names);
}

function listFiles(folder: string): readonly string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && path.extname(entry.name) in TYPES)
      .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)).replaceAll('\\', '/'));
  } catch {
    return [];
  }
}

async function readOne(folder: string, name: string): Promise<ConsoleFile> {
  const bytes = readFileSync(path.join(folder, name));
  return {
    bytes,
    packed: await promisify(gzip)(bytes),
    type: TYPES[path.extname(name)] ?? 'application/octet-stream',
    tag: `"${createHash('sha256').update(bytes).digest('hex').slice(0, 32)}"`,
    caching: name.startsWith('assets/') ? FOREVER : ASK_AGAIN,
  };
}
