/**
 * Repositories of this machine, served by Git's own HTTP backend.
 * Owns the CGI call: one repository, reading only, no configuration of the host; must not decide who may read.
 */
import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { realpath } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { relative } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { RepositoryPlace } from './code-hosts.ts';
import type { GitRead } from './git-request.ts';
import { CGI_HEADER_BYTES_MAX, STDERR_CHARS_MAX } from './limits.ts';

export interface LocalCall {
  readonly read: GitRead;
  readonly place: Extract<RepositoryPlace, { kind: 'directory' }>;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly signal: AbortSignal;
}

/** Where the repository really is; null when it does not exist or a link leads out of the configured root. */
export async function resolveRepository(place: LocalCall['place']): Promise<string | null> {
  try {
    const [root, path] = [await realpath(place.root), await realpath(place.path)];
    const way = relative(root, path);
    return way === '' || way === '..' || way.startsWith('../') ? null : path;
  } catch {
    return null;
  }
}

/**
 * Streams the backend's answer; false when there is no such repository and nothing has been answered.
 * @throws Error the backend failed, or the caller went away
 */
export async function serveLocal(call: LocalCall): Promise<boolean> {
  const repository = await resolveRepository(call.place);
  if (repository === null) return false;
  const backend = spawn('git', ['http-backend'], {
    cwd: '/',
    env: backendEnvironment(call, repository),
    stdio: 'pipe',
    signal: call.signal,
  });
  const failed = failureOf(backend);
  const fed = pipeline(call.request, backend.stdin).catch(() => undefined);
  await Promise.race([failed, answer(backend.stdout, call.response)]);
  await fed;
  return true;
}

/** Only what the backend needs: the host's Git configuration, and with it its hooks and helpers, stays out. */
function backendEnvironment({ read, request }: LocalCall, repository: string): Record<string, string> {
  const { headers } = request;
  const optional = {
    CONTENT_TYPE: headers['content-type'],
    CONTENT_LENGTH: headers['content-length'],
    HTTP_CONTENT_ENCODING: headers['content-encoding'],
    GIT_PROTOCOL: protocolOf(headers['git-protocol']),
  };
  return {
    PATH: process.env['PATH'] ?? '/usr/local/bin:/usr/bin:/bin',
    HOME: '/nonexistent',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    // The repository may belong to another user: it was configured, so it is meant.
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'safe.directory',
    GIT_CONFIG_VALUE_0: '*',
    GIT_HTTP_EXPORT_ALL: '1',
    GIT_PROJECT_ROOT: repository,
    PATH_INFO: read.endpoint,
    QUERY_STRING: read.endpoint === '/info/refs' ? 'service=git-upload-pack' : '',
    REQUEST_METHOD: request.method ?? 'GET',
    ...Object.fromEntries(
      Object.entries(optional).filter((entry): entry is [string, string] => entry[1] !== undefined),
    ),
  };
}

function protocolOf(header: string | readonly string[] | undefined): string | undefined {
  return typeof header === 'string' && /^[a-z0-9=:]{1,64}$/.test(header) ? header : undefined;
}

/** Rejects when the backend fails; never resolves, because success shows in its output. */
function failureOf(backend: ChildProcessWithoutNullStreams): Promise<never> {
  let said = '';
  backend.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-STDERR_CHARS_MAX);
  });
  return new Promise((_, reject) => {
    backend.on('error', reject);
    backend.on('close', (code) => {
      if (code !== 0) reject(new Error(`git http-backend ended with ${code}: ${said.trim()}`));
    });
  });
}

/** CGI: header lines, an empty line, then the body, which is passed on as it comes. */
async function answer(output: Readable, response: ServerResponse): Promise<void> {
  const { head, rest } = await readHead(output);
  let status = 200;
  for (const line of head.split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    if (name === 'status') status = Number.parseInt(value, 10);
    else if (colon > 0) response.setHeader(name, value);
  }
  response.writeHead(status);
  response.write(rest);
  await pipeline(output, response);
}

async function readHead(output: Readable): Promise<{ readonly head: string; readonly rest: Buffer }> {
  let seen = Buffer.alloc(0);
  for await (const chunk of output.iterator({ destroyOnReturn: false })) {
    seen = Buffer.concat([seen, chunk as Buffer]);
    const match = /\r?\n\r?\n/.exec(seen.toString('latin1'));
    if (match !== null) {
      const head = seen.toString('latin1', 0, match.index);
      return { head, rest: seen.subarray(match.index + match[0].length) };
    }
    if (seen.length > CGI_HEADER_BYTES_MAX) break;
  }
  throw new Error('git http-backend wrote no headers');
}
