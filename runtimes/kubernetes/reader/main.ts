/**
 * Reads a workspace for an export, in a pod of its own beside the sandbox: one GET answers the directory as a gzipped
 * tar to a client with the key. A program of its own, bundled to one file; it sees the volume read-only and no more.
 * Arguments: the directory, and the port. Must not write, and must not follow a link.
 */
import { timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { repeatedHeader } from '../../../core/repeated-header.ts';
import { exportDirectory } from '../../workspace-archive/export-directory.ts';

const KEY_VARIABLE = 'PARLEY_POD_KEY';

function main(): void {
  const [directory = '', port = ''] = process.argv.slice(2);
  const key = Buffer.from(process.env[KEY_VARIABLE] ?? '');
  const server = createServer((request, response) => {
    if (request.url === '/health') {
      response.end('{"status":"ok"}');
      return;
    }
    if (!opens(request, key)) {
      response.writeHead(401).end();
      return;
    }
    send(directory, response).catch((error: unknown) => {
      process.stderr.write(`Cannot read "${directory}": ${String(error)}\n`);
      // Half an archive must not look whole: the connection breaks instead of ending.
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end();
    });
  });
  server.listen(Number(port));
  process.on('SIGTERM', () => process.exit(0));
}

function opens(request: IncomingMessage, key: Buffer): boolean {
  if (repeatedHeader(request.rawHeaders, ['authorization']) !== null) return false;
  const given = Buffer.from(String(request.headers.authorization ?? '').replace(/^Bearer /, ''));
  return key.length > 0 && given.length === key.length && timingSafeEqual(given, key);
}

async function send(directory: string, response: ServerResponse): Promise<void> {
  for await (const chunk of exportDirectory(directory)) {
    if (!response.headersSent) response.writeHead(200, { 'content-type': 'application/gzip' });
    if (!response.write(chunk)) await Promise.race([once(response, 'drain'), once(response, 'close')]);
    if (response.destroyed) return;
  }
  response.end();
}

// A client is answered whether or not anything can be printed here.
process.stderr.on('error', () => undefined);
main();
