/**
 * The limit: the least that a relay in Node does. No key, no header rule, no model table, no accounting.
 * Owns nothing of the product; with `parse` it edits the body the usual way, by parsing it and writing it anew.
 */
import { createServer, type ServerResponse } from 'node:http';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { Pool, type Dispatcher } from 'undici';
import { portOf } from './raw-upstream.ts';

const CONNECTIONS = 512;

/** Listens on a free port of loopback and resolves with it. */
export function startBareRelay(upstream: string, parse: boolean): Promise<number> {
  const pool = new Pool(upstream, { connections: CONNECTIONS, pipelining: 1 });
  const delay = monitorEventLoopDelay({ resolution: 20 });
  delay.enable();
  const server = createServer({ noDelay: true, requestTimeout: 0 }, (req, res) => {
    if (req.url === '/loop') return void res.end(String(Math.max(0, delay.percentile(99) / 1e6 - 20)));
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = chunks.length === 1 && chunks[0] !== undefined ? chunks[0] : Buffer.concat(chunks);
      relay(pool, parse ? rewritten(body) : body, res);
    });
  });
  return portOf(server);
}

function rewritten(body: Buffer): Buffer {
  const { user: _user, ...rest } = JSON.parse(body.toString('utf8')) as Record<string, unknown>;
  return Buffer.from(JSON.stringify({ ...rest, model: 'up' }));
}

function relay(pool: Pool, body: Buffer, res: ServerResponse): void {
  let controller: Dispatcher.DispatchController | null = null;
  res.on('drain', () => controller?.resume());
  const headers = { 'content-type': 'application/json', 'content-length': String(body.length) };
  pool.dispatch(
    { method: 'POST', path: '/v1/chat/completions', headers, body },
    {
      onRequestStart(given) {
        controller = given;
      },
      onResponseStart(_given, status, replied) {
        const relayed: Record<string, string> = {};
        for (const name of ['content-type', 'content-length'])
          if (replied[name] !== undefined) relayed[name] = String(replied[name]);
        res.writeHead(status, relayed);
      },
      onResponseData(given, chunk) {
        if (!res.write(chunk)) given.pause();
      },
      onResponseEnd() {
        res.end();
      },
      onResponseError() {
        res.destroy();
      },
    },
  );
}
