/**
 * Replies that real gateways were seen to send and no standard describes, for the stub gateway to answer with.
 * Owns bytes as they go over the wire, and a caller that reads bytes; must not decide what is right.
 */
import { request as httpRequest } from 'node:http';
import { AGENT_KEY, BODY } from './proxy-under-test.ts';
import type { Answer } from './stub-gateway.ts';

export interface RawReply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly bytes: Buffer;
  readonly isCut: boolean;
}

/** A call whose reply is kept as bytes. */
export function sendForBytes(url: string, body: string = BODY): Promise<RawReply> {
  const headers = { authorization: `Bearer ${AGENT_KEY}` };
  const options = { method: 'POST', headers, agent: false as const };
  return new Promise((resolve, reject) => {
    const req = httpRequest(`${url}/v1/chat/completions`, options, (res) => {
      const chunks: Buffer[] = [];
      const finish = (isCut: boolean): void =>
        resolve({
          status: res.statusCode ?? 0,
          headers: res.headers as RawReply['headers'],
          bytes: Buffer.concat(chunks),
          isCut,
        });
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('end', () => finish(false));
      res.on('error', () => finish(true));
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** The whole connection, written by hand and closed at its end, which is all that says where the body ends. */
export function answerRaw(pieces: readonly (string | Buffer)[]): Answer {
  return (res) => {
    const { socket } = res;
    const next = (i: number): void => {
      const piece = pieces[i];
      if (piece === undefined) socket?.end();
      else socket?.write(piece, () => setImmediate(next, i + 1));
    };
    next(0);
  };
}

export function answerBytes(bytes: Buffer, headers: Readonly<Record<string, string>>, status = 200): Answer {
  return (res) => {
    res.writeHead(status, { 'content-type': 'application/json', ...headers });
    res.end(bytes);
  };
}

export const CLOSE_DELIMITED_JSON = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n';
export const CLOSE_DELIMITED_EVENTS = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n';
