/**
 * One HTTP call over a unix socket.
 * Owns nothing but the call; must not interpret the answer beyond JSON.
 */
import { request } from 'node:http';

export interface SocketAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface SocketCall {
  readonly socketPath: string;
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is when it is a text, else as JSON. */
  readonly body?: unknown;
}

export function callSocket({
  socketPath,
  path,
  method = 'POST',
  headers = {},
  body,
}: SocketCall): Promise<SocketAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  const sent =
    body === undefined
      ? {}
      : { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) };
  return new Promise((resolve, reject) => {
    // A connection kept from before a restart fails the call after it.
    const options = { socketPath, path, method, agent: false, headers: { ...sent, ...headers } };
    const call = request(options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on('data', (chunk: Buffer) => chunks.push(chunk));
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          body: JSON.parse(Buffer.concat(chunks).toString()) as unknown,
        }),
      );
    });
    call.on('error', reject);
    call.end(body === undefined ? undefined : text);
  });
}
