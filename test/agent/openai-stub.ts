/**
 * A stand-in for an OpenAI-compatible endpoint that answers from a script.
 * Owns the answers' shape and a record of what was asked; knows nothing of the agent.
 */
import { createServer } from 'node:http';
import type { IncomingHttpHeaders, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ChatRequest {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: {
    readonly model: string;
    readonly stream?: boolean;
    readonly stream_options?: unknown;
    readonly user?: string;
    readonly messages: readonly {
      readonly role: string;
      readonly content: unknown;
      readonly tool_calls?: readonly {
        readonly id: string;
        readonly function: { readonly arguments: string };
      }[];
      readonly tool_call_id?: string;
    }[];
    readonly tools: readonly { readonly function: { readonly name: string } }[];
  };
}

export interface ChatAnswer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json: unknown;
  /** Pieces of a stream of events, in place of `json`; the connection breaks where this throws. */
  readonly stream?: AsyncIterable<string | Buffer>;
}

/** One scripted step: an answer, or a function that makes one and may take its time. */
export type ScriptStep = ChatAnswer | ((request: ChatRequest) => ChatAnswer | Promise<ChatAnswer>);

export interface OpenAiStub {
  readonly baseUrl: string;
  readonly requests: ChatRequest[];
  /** Answers of the steps to come; with `forever`, the last step repeats. */
  script(steps: readonly ScriptStep[], options?: { readonly forever: boolean }): void;
  /** Stops answering; `listen` answers again on the same port. */
  close(): Promise<void>;
  listen(): Promise<void>;
}

export async function startOpenAiStub(): Promise<OpenAiStub> {
  const requests: ChatRequest[] = [];
  let steps: readonly ScriptStep[] = [];
  let forever = false;
  let next = 0;
  const answer = async (request: ChatRequest): Promise<ChatAnswer> => {
    requests.push(request);
    const step = steps[forever ? Math.min(next, steps.length - 1) : next];
    next += 1;
    if (step === undefined) return { status: 400, json: { error: { message: 'the script is at its end' } } };
    return typeof step === 'function' ? await step(request) : step;
  };
  const serve = (): Server =>
    createServer((incoming, outgoing) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as ChatRequest['body'];
        void answer({ url: incoming.url ?? '', headers: incoming.headers, body }).then(
          async ({ status, headers, json, stream }) => {
            if (stream !== undefined) {
              outgoing.writeHead(status ?? 200, { 'content-type': 'text/event-stream', ...headers });
              try {
                for await (const piece of stream) outgoing.write(piece);
                outgoing.end();
              } catch {
                outgoing.destroy();
              }
              return;
            }
            outgoing.writeHead(status ?? 200, { 'content-type': 'application/json', ...headers });
            outgoing.end(typeof json === 'string' ? json : JSON.stringify(json));
          },
        );
      });
    });
  let server = serve();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    requests,
    script: (scripted, options) => {
      [steps, forever, next] = [scripted, options?.forever ?? false, 0];
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
    listen: () =>
      new Promise((resolve) => {
        server = serve();
        server.listen(port, '127.0.0.1', resolve);
      }),
  };
}

let counter = 0;

/** A completion that calls tools: name and arguments, as an object or as raw text. */
export function toolCalls(...calls: readonly (readonly [name: string, args: unknown])[]): ChatAnswer {
  counter += 1;
  return completion({
    content: null,
    tool_calls: calls.map(([name, args], index) => ({
      id: `call_${counter}_${index}`,
      type: 'function',
      function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
    })),
  });
}

export function reply(text: string): ChatAnswer {
  counter += 1;
  return completion({ content: text });
}

function completion(message: Readonly<Record<string, unknown>>): ChatAnswer {
  return {
    headers: { 'x-proxyvendor-response-cost': '0.25' },
    json: {
      id: `chatcmpl-${counter}`,
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', ...message } }],
      usage: { prompt_tokens: 100, completion_tokens: 10 },
    },
  };
}
