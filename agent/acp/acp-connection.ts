/**
 * The agent's program on pipes, in the place of the tools, and the protocol's client over them.
 * Owns the start of the program, its end and what is left of its complaints; must not know a conversation.
 * Loaded when the first agent is started.
 */
import { Readable, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';

import { client, ndJsonStream, RequestError } from '@agentclientprotocol/sdk';
import type { AnyMessage, ClientConnection } from '@agentclientprotocol/sdk';

import { ACP_COMPLAINT_CHARS_MAX, ACP_MESSAGE_BYTES_MAX, MCP_END_MS } from '../limits.ts';
import { messageOf } from '../serve/log.ts';
import { startTool, type ToolProcess } from '../toolbox.ts';
import { AcpError } from './acp-agent.ts';

interface AcpProgram {
  readonly command: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Answers one request of the agent. A thrown error goes back to it with its message. */
type AnswerRequest = (method: string, params: unknown, signal: AbortSignal) => Promise<unknown>;

export interface AcpConnection {
  readonly isOpen: () => boolean;
  /** Resolves with why it has ended. */
  readonly ended: Promise<string>;
  /** @throws AcpError the agent refused, or it has ended, or gave no answer in time */
  request(method: string, params: unknown, timeoutMs: number | null): Promise<unknown>;
  notify(method: string, params: unknown): void;
  close(): Promise<void>;
}

/** @throws AcpError it cannot be started */
export async function connectAcp(
  program: AcpProgram,
  handlers: { readonly answer: AnswerRequest; readonly updated: (params: unknown) => void },
): Promise<AcpConnection> {
  const [file = '', ...args] = program.command;
  const tool = await startTool(file, args, { ...program, stdio: ['pipe', 'pipe', 'pipe'] });
  const { child } = tool;
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint = (complaint + chunk.toString('utf8')).slice(-ACP_COMPLAINT_CHARS_MAX);
  });
  for (const stream of [child.stdin, child.stdout, child.stderr]) stream?.on('error', () => undefined);
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', (code, signal) => {
      const how = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
      resolve(complaint.trim() === '' ? how : `${how}: ${complaint.trim()}`);
    });
  });
  await started(tool, file);
  const connection = speak(tool, handlers);
  let isOpen = true;
  void ended.then(() => {
    isOpen = false;
    connection.close();
  });
  const words = (why: string): AcpError => new AcpError('AgentProcessError', `The agent has ended: ${why}`);
  return {
    isOpen: () => isOpen,
    ended,
    async request(method, params, timeoutMs) {
      const late = new AbortController();
      const answer = connection.agent.request<unknown, unknown>(method, params).catch((error: unknown) => {
        if (isOpen && !connection.signal.aborted) throw refused(method, error);
        // Its last words come behind the end of its pipes.
        return ended.then((why) => Promise.reject(words(why)));
      });
      answer.catch(() => undefined);
      const parties: Promise<unknown>[] = [answer, ended.then((why) => Promise.reject(words(why)))];
      if (timeoutMs !== null) parties.push(noAnswer(method, timeoutMs, late.signal));
      try {
        return await Promise.race(parties);
      } finally {
        late.abort();
      }
    },
    notify: (method, params) => void connection.agent.notify(method, params).catch(() => undefined),
    close: async () => {
      connection.close();
      child.stdin?.end();
      for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
        if (await endedWithin(ended, MCP_END_MS)) break;
        tool.signal(signal);
      }
      // Whatever it left running in its group ends with it.
      tool.signal('SIGKILL');
    },
  };
}

async function started({ child }: ToolProcess, file: string): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.once('spawn', resolve);
    child.once('error', (error) => {
      reject(
        new AcpError('AgentProcessError', `Cannot start agent "${file}": ${error.message}`, {
          isConfiguration: true,
        }),
      );
    });
  });
}

function speak(
  { child }: ToolProcess,
  { answer, updated }: Parameters<typeof connectAcp>[1],
): ClientConnection {
  const stream = ndJsonStream(
    Writable.toWeb(child.stdin as Writable),
    Readable.toWeb(child.stdout as Readable) as ReadableStream<Uint8Array>,
    { maxMessageBytes: ACP_MESSAGE_BYTES_MAX },
  );
  return client({ name: 'parley-agent' })
    .onRequest('*', async ({ method, params, signal }) => {
      try {
        return await answer(method, params, signal);
      } catch (error) {
        if (error instanceof RequestError) throw error;
        throw RequestError.internalError({ details: messageOf(error) }, messageOf(error));
      }
    })
    .onNotification('*', () => undefined)
    .connect({ writable: stream.writable, readable: stream.readable.pipeThrough(updatesAside(updated)) });
}

/**
 * Takes the updates out of what the agent says: the library drops one of a later release as a whole, and hands an answer
 * over before the updates that came ahead of it.
 */
function updatesAside(updated: (params: unknown) => void): TransformStream<AnyMessage, AnyMessage> {
  return new TransformStream({
    transform(message, controller) {
      if ('method' in message && message.method === 'session/update' && !('id' in message))
        updated(message.params);
      else controller.enqueue(message);
    },
  });
}

/** Which methods the client does not have, in the protocol's own words. */
export function unknownMethod(method: string): Error {
  return RequestError.methodNotFound(method);
}

/** @throws Error in the protocol's words */
export function malformedRequest(problem: string): Error {
  return RequestError.invalidParams({ details: problem });
}

const AUTH_REQUIRED = -32_000;

function refused(method: string, error: unknown): AcpError {
  if (!(error instanceof RequestError))
    return new AcpError('AgentProtocolError', `Cannot call "${method}": ${messageOf(error)}`);
  const needsLogin = error.code === AUTH_REQUIRED && method !== 'session/prompt';
  const details = detailsOf(error.data);
  const text = `The agent refused "${method}": ${error.message}${details}`;
  return new AcpError(needsLogin ? 'AgentAuthenticationError' : 'AgentRefusedError', text, {
    isConfiguration: needsLogin,
  });
}

function detailsOf(data: unknown): string {
  if (typeof data === 'string') return ` (${data.slice(0, ACP_COMPLAINT_CHARS_MAX)})`;
  const details = typeof data === 'object' && data !== null && 'details' in data ? data.details : undefined;
  return typeof details === 'string' ? ` (${details.slice(0, ACP_COMPLAINT_CHARS_MAX)})` : '';
}

async function noAnswer(method: string, ms: number, signal: AbortSignal): Promise<never> {
  await pause(ms, undefined, { signal, ref: false });
  throw new AcpError('AgentProtocolError', `The agent gave no answer to "${method}" within ${ms / 1000} s`);
}

async function endedWithin(ended: Promise<string>, ms: number): Promise<boolean> {
  return await Promise.race([ended.then(() => true), pause(ms, false, { ref: false })]);
}
