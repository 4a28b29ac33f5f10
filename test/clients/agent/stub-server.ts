/**
 * A small Agent Server that answers as a test sets it and records its requests.
 * Owns one HTTP server on a unix socket or a loopback port.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { onTestFinished } from 'vitest';
import { sandboxId } from '../../../core/ids.ts';
import type { AgentTarget } from '../../../ports/agent-server.ts';
import type { SandboxAddress } from '../../../ports/sandbox-runtime.ts';
import { tempDir } from '../../helpers/temp-dir.ts';

export interface SeenRequest {
  /** Method, path and query. */
  readonly line: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

export interface StubAnswer {
  readonly status?: number;
  readonly body?: unknown;
}

export interface Stub {
  readonly target: AgentTarget;
  readonly socketPath: string;
  readonly seen: readonly SeenRequest[];
  /** Requests by line; a prefix `METHOD /path` is enough. */
  answer(line: string, ...answers: readonly StubAnswer[]): void;
}

export const SESSION_KEY = 'session-key-of-the-test';
export const SANDBOX_ID = sandboxId('0af7651916cd43dd8448eb211c80319c');

export function addressFor(agent: SandboxAddress['agent'], generation = 1): SandboxAddress {
  const routes = {
    proxyUrl: 'http://127.0.0.1:1',
    webhookUrl: 'http://127.0.0.1:1',
    gitUrl: 'http://127.0.0.1:1',
  };
  return { sandboxId: SANDBOX_ID, generation, agent, routes, workspaceDir: '/workspace' };
}

export async function startStub(kind: 'socket' | 'tcp' = 'socket'): Promise<Stub> {
  const seen: SeenRequest[] = [];
  const answers = new Map<string, StubAnswer[]>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const line = `${request.method} ${request.url}`;
      seen.push({ line, headers: request.headers, body: Buffer.concat(chunks).toString() });
      const key = [...answers.keys()]
        .filter((start) => line.startsWith(start))
        .sort((a, b) => b.length - a.length)[0];
      const queue = answers.get(key ?? '');
      const answer = queue !== undefined && queue.length > 1 ? queue.shift() : queue?.[0];
      if (answer === undefined) return void response.writeHead(404).end('{"detail":"Not Found"}');
      const body = answer.body ?? { success: true };
      response.writeHead(answer.status ?? 200).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  const socketPath = path.join(tempDir(), 'agent.sock');
  await new Promise<void>((resolve) =>
    kind === 'socket' ? server.listen(socketPath, resolve) : server.listen(0, '127.0.0.1', resolve),
  );
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const agent =
    kind === 'socket'
      ? { socketPath }
      : { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` };
  return {
    target: { address: addressFor(agent), sessionKey: SESSION_KEY },
    socketPath,
    seen,
    answer: (line, ...given) => void answers.set(line, [...given]),
  };
}
