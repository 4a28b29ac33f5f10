/**
 * A gateway for tests: real HTTP, scripted replies, a record of every request as it came over the wire.
 * Owns no rule of a real gateway; a test says what it answers.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { onTestFinished } from 'vitest';

export interface SeenRequest {
  readonly url: string;
  readonly rawHeaders: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Answer = (res: ServerResponse, seen: SeenRequest) => void;

export interface StubGateway {
  readonly origin: string;
  readonly seen: SeenRequest[];
  answer: Answer;
  /** Resolves when the n-th request (from 1) has come in whole. */
  arrival(n: number): Promise<void>;
  /** Resolves when a connection of the proxy was closed before its reply ended. */
  readonly cut: Promise<void>;
}

export async function startStubGateway(answer: Answer = answerJson(200, REPLY)): Promise<StubGateway> {
  const waiting = new Map<number, () => void>();
  let markCut: () => void = () => undefined;
  const cut = new Promise<void>((resolve) => (markCut = resolve));
  const server = createServer((req, res) => {
    res.on('close', () => {
      if (!res.writableFinished) markCut();
    });
    void readSeen(req).then((seen) => {
      stub.seen.push(seen);
      waiting.get(stub.seen.length)?.();
      stub.answer(res, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const stub: StubGateway = {
    origin: `http://127.0.0.1:${port}`,
    seen: [],
    answer,
    arrival: (n) =>
      stub.seen.length >= n ? Promise.resolve() : new Promise((resolve) => waiting.set(n, resolve)),
    cut,
  };
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return stub;
}

async function readSeen(req: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  return {
    url: req.url ?? '',
    rawHeaders: req.rawHeaders,
    headers: req.headers as Record<string, string>,
    body: Buffer.concat(chunks).toString('utf8'),
  };
}

/** Formatting no JSON writer would choose, so that a re-encoded reply cannot pass for a relayed one. */
export const REPLY =
  '{ "id":"resp-1","object":"chat.completion", "model":"prov/up",\n "choices":[{"index":0,"message":{"role":"assistant","content":"h\\u00e9","refusal":null}}],' +
  '"usage":{"prompt_tokens":10,"completion_tokens":3,"total_tokens":13,"prompt_tokens_details":{"cached_tokens":4}}, "odd": 1.0 }';

export function answerJson(status: number, body: string, headers: Record<string, string> = {}): Answer {
  return (res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(body);
  };
}

export const CONTENT_FRAMES: readonly string[] = [
  'data: {"id":"resp-s","choices":[{"index":0,"delta":{"role":"assistant","content":"\\"usage\\": {"}}],"usage":null}\n\n',
  ': ping\r\n\r\n',
  'data: {"id":"resp-s","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\\"a\\":1}"}}]}}]}\r\n\r\n',
  'data: {"id":"resp-s","choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":null}\n\n',
];
export const USAGE_FRAME =
  'data: {"id":"resp-s","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}\n\n';
export const DONE_FRAME = 'data: [DONE]\n\n';
export const STREAM = [...CONTENT_FRAMES, USAGE_FRAME, DONE_FRAME].join('');

/** Sends the pieces as separate writes; each goes out before the next is written. */
export function answerStream(pieces: readonly (string | Buffer)[], end: 'end' | 'destroy' = 'end'): Answer {
  return (res) => {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    const next = (i: number): void => {
      const piece = pieces[i];
      if (piece !== undefined) res.write(piece, () => setImmediate(next, i + 1));
      else if (end === 'end') res.end();
      else res.destroy();
    };
    next(0);
  };
}
