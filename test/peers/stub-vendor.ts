/**
 * A model vendor behind a gateway: real HTTP, answers that a test sets, a record of every request as it came.
 * Unlike the stub gateway of test/proxy it lives as long as its group of tests. Owns no rule of a vendor.
 */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, SeenRequest } from '../proxy/stub-gateway.ts';

export interface StubVendor {
  readonly origin: string;
  /** Calls of a model, in the order in which they came. */
  readonly seen: SeenRequest[];
  answer: Answer;
  close(): Promise<void>;
}

/** A reply in which every part that a caller may read is there. */
export const CHAT_REPLY = {
  object: 'chat.completion',
  created: 1_763_700_000,
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: 'héllo', refusal: null },
      finish_reason: 'stop',
      logprobs: null,
    },
  ],
  usage: {
    prompt_tokens: 2011,
    completion_tokens: 61,
    total_tokens: 2072,
    prompt_tokens_details: { cached_tokens: 512 },
  },
};

const TOOL_CALL = {
  id: 'call-1',
  type: 'function',
  function: { name: 'terminal', arguments: '{"command":"ls"}' },
};

let replies = 0;

/** Answers as a vendor does: in frames when asked to, with a tool call when the caller offers tools. */
export const answerChat: Answer = (res, seen) => {
  const body = JSON.parse(seen.body) as { model: string; stream?: boolean; tools?: unknown };
  const id = `chatcmpl-vendor-${(replies += 1)}`;
  const message =
    body.tools === undefined ? undefined : { role: 'assistant', content: null, tool_calls: [TOOL_CALL] };
  if (body.stream === true) {
    res.writeHead(200, { 'content-type': 'text/event-stream' });
    for (const frame of framesOf({ id, model: body.model, isTool: message !== undefined })) res.write(frame);
    res.end();
    return;
  }
  const choice = {
    ...CHAT_REPLY.choices[0],
    ...(message === undefined ? {} : { message, finish_reason: 'tool_calls' }),
  };
  res.writeHead(200, { 'content-type': 'application/json' });
  res.end(JSON.stringify({ ...CHAT_REPLY, id, model: body.model, choices: [choice] }));
};

function framesOf({ id, model, isTool }: { id: string; model: string; isTool: boolean }): readonly string[] {
  const deltas = isTool
    ? [
        {
          role: 'assistant',
          tool_calls: [{ index: 0, ...TOOL_CALL, function: { name: 'terminal', arguments: '' } }],
        },
        { tool_calls: [{ index: 0, function: { arguments: '{"command":' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '"ls"}' } }] },
      ]
    : [{ role: 'assistant', content: 'hé' }, { content: 'llo' }];
  const head = { id, object: 'chat.completion.chunk', created: CHAT_REPLY.created, model };
  const choice = (delta: object, reason: string | null) => ({ index: 0, delta, finish_reason: reason });
  const chunks = [
    ...deltas.map((delta) => ({ ...head, choices: [choice(delta, null)], usage: null })),
    { ...head, choices: [choice({}, isTool ? 'tool_calls' : 'stop')], usage: null },
    { ...head, choices: [], usage: CHAT_REPLY.usage },
  ];
  return [...chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n'];
}

export async function openStubVendor(): Promise<StubVendor> {
  const server = createServer((req, res) => {
    void readSeen(req).then((seen) => {
      // LiteLLM asks for the list of models when it starts, which is no call.
      if (seen.url.endsWith('/models')) return void res.end('{"object":"list","data":[]}');
      vendor.seen.push(seen);
      vendor.answer(res, seen);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const vendor: StubVendor = {
    origin: `http://127.0.0.1:${port}`,
    seen: [],
    answer: answerChat,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return vendor;
}

async function readSeen(req: IncomingMessage): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks).toString('utf8');
  const headers = req.headers as Record<string, string>;
  return { url: req.url ?? '', rawHeaders: req.rawHeaders, headers, body };
}
