/**
 * A vendor of Anthropic's messages: one answer with a thought, a tool call and cached tokens, plain or as events.
 * Owns that answer in both forms; must not know who asks.
 */
import type { ServerResponse } from 'node:http';
import type { Answer } from '../proxy/stub-gateway.ts';

export const USAGE = {
  input_tokens: 20,
  cache_creation_input_tokens: 10,
  cache_read_input_tokens: 50,
  output_tokens: 5,
  output_tokens_details: { thinking_tokens: 3 },
};
/** Of the entry that leads to it, by token, and what the answer costs by them in nano-USD. */
export const PRICES = {
  input_cost_per_token: '0.000003',
  output_cost_per_token: '0.000015',
  cache_read_input_token_cost: '0.0000003',
  cache_creation_input_token_cost: '0.00000375',
};
export const COST = 20 * 3_000 + 10 * 3_750 + 50 * 300 + 5 * 15_000;
const HEAD = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' };
export const THOUGHT = { type: 'thinking', thinking: 'first look', signature: 'sig' };
export const TOOL = { type: 'tool_use', id: 'toolu_1', name: 'terminal', input: { command: 'ls' } };
export const REPLY = {
  ...HEAD,
  content: [THOUGHT, TOOL],
  stop_reason: 'tool_use',
  stop_sequence: null,
  usage: USAGE,
};

export const event = (type: string, body: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
export const BEGUN = event('message_start', {
  message: { ...HEAD, content: [], stop_reason: null, usage: { ...USAGE, output_tokens: 1 } },
});
export const STREAM = [
  BEGUN,
  event('ping', {}),
  event('content_block_start', {
    index: 0,
    content_block: { type: 'thinking', thinking: '', signature: '' },
  }),
  event('content_block_delta', { index: 0, delta: { type: 'thinking_delta', thinking: 'first look' } }),
  event('content_block_delta', { index: 0, delta: { type: 'signature_delta', signature: 'sig' } }),
  event('content_block_stop', { index: 0 }),
  event('content_block_start', { index: 1, content_block: { ...TOOL, input: {} } }),
  event('content_block_delta', {
    index: 1,
    delta: { type: 'input_json_delta', partial_json: '{"command":' },
  }),
  event('content_block_delta', { index: 1, delta: { type: 'input_json_delta', partial_json: '"ls"}' } }),
  event('content_block_stop', { index: 1 }),
  event('message_delta', {
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 5 },
  }),
  event('message_stop', {}),
];

/** Models whose streams do not come to their end: one says nothing more, one is cut, one fails in words. */
export const BROKEN_MODELS = ['hangs', 'breaks', 'overloads'] as const;
export type BrokenModel = (typeof BROKEN_MODELS)[number];

/** Answers as the vendor does until it no longer does. */
export function breakOff(model: BrokenModel, res: ServerResponse): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' });
  switch (model) {
    case 'hangs':
      res.write(BEGUN);
      return;
    case 'breaks':
      res.end(STREAM.slice(0, 4).join(''));
      return;
    case 'overloads':
      res.end(
        [
          ...STREAM.slice(0, 4),
          event('error', { error: { type: 'overloaded_error', message: 'Overloaded' } }),
        ].join(''),
      );
  }
}

/** Answers as the vendor does, a count of tokens included. */
export const answerMessages: Answer = (res, seen) => {
  const { stream = false } = JSON.parse(seen.body) as { readonly stream?: boolean };
  const isCount = seen.url.endsWith('/count_tokens');
  res.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' });
  if (stream) res.end(STREAM.join(''));
  else res.end(JSON.stringify(isCount ? { input_tokens: 12 } : REPLY));
};
