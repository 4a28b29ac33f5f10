/**
 * A gateway that costs next to nothing: it finds the end of each request and answers from memory.
 * Owns no HTTP beyond that, so that the machine's time goes to what is measured.
 */
import { createServer, type Server, type Socket } from 'node:net';

const HEAD_END = Buffer.from('\r\n\r\n');
const FRAMES = 200;

/** About half a KiB, as a short answer of a model is. */
const PLAIN_BODY = JSON.stringify({
  id: 'chatcmpl-bench',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, message: { role: 'assistant', content: 'x'.repeat(300) }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 100, completion_tokens: 50, total_tokens: 150 },
});
const PLAIN = plain(PLAIN_BODY);
const MESSAGE = plain(
  JSON.stringify({
    id: 'msg_bench',
    type: 'message',
    role: 'assistant',
    model: 'up',
    content: [{ type: 'text', text: 'x'.repeat(300) }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 100, output_tokens: 50 },
  }),
);
const STREAM_HEAD = Buffer.from(
  'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n',
);
const STREAM_PIECES = inPieces(chatFrames());
const MESSAGE_PIECES = inPieces(messageFrames());
/** In the first line of a request. */
const MESSAGES_PATH = Buffer.from(' /v1/messages ');

function plain(body: string): Buffer {
  return Buffer.from(
    `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
}

function chatFrames(): readonly string[] {
  const frame = (i: number): string =>
    `data: {"id":"chatcmpl-bench","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"word ${i}"},"finish_reason":null}]}\n\n`;
  const usage =
    'data: {"id":"chatcmpl-bench","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":200}}\n\n';
  return [...Array.from({ length: FRAMES }, (_, i) => frame(i)), `${usage}data: [DONE]\n\n`];
}

/** As many words, between the events that a message has around them. */
function messageFrames(): readonly string[] {
  const event = (type: string, body: object): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...body })}\n\n`;
  const message = { id: 'msg_bench', type: 'message', role: 'assistant', content: [], model: 'up' };
  const begun = { ...message, usage: { input_tokens: 100, output_tokens: 1 } };
  const words = Array.from({ length: FRAMES }, (_, i) =>
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: `word ${i}` } }),
  );
  return [
    event('message_start', { message: begun }),
    event('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }),
    ...words,
    event('content_block_stop', { index: 0 }),
    event('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 200 } }) +
      event('message_stop', {}),
  ];
}

/** The frames in ten writes, as they arrive from a fast model over a network. */
function inPieces(frames: readonly string[]): readonly Buffer[] {
  const perPiece = Math.ceil(frames.length / 10);
  return Array.from({ length: 10 }, (_, i) => {
    const text = frames.slice(i * perPiece, (i + 1) * perPiece).join('');
    return Buffer.from(`${text.length.toString(16)}\r\n${text}\r\n${i === 9 ? '0\r\n\r\n' : ''}`);
  });
}

/** Listens on a free port of loopback and resolves with it. `pieceMs` is the pause between two pieces of a stream. */
export function startRawUpstream(pieceMs: number): Promise<number> {
  return portOf(createServer((socket) => serve(socket, pieceMs)));
}

/** Lets it listen on a free port of loopback. */
export function portOf(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
}

function serve(socket: Socket, pieceMs: number): void {
  socket.setNoDelay(true);
  let head: Buffer | null = null;
  let pending: Buffer = Buffer.alloc(0);
  let left = 0;
  let isStream = false;
  let isMessage = false;
  socket.on('error', () => undefined);
  socket.on('data', (chunk) => {
    if (head === null) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const end = pending.indexOf(HEAD_END);
      if (end < 0) return;
      head = pending.subarray(0, end);
      isMessage = head.includes(MESSAGES_PATH);
      const length = /content-length: (\d+)/i.exec(head.toString('latin1'))?.[1] ?? '0';
      left = Number(length) - (pending.length - end - HEAD_END.length);
      isStream = pending.includes('"stream":true');
      pending = Buffer.alloc(0);
    } else {
      left -= chunk.length;
    }
    if (left > 0) return;
    head = null;
    if (isStream) answerStream(socket, isMessage ? MESSAGE_PIECES : STREAM_PIECES, pieceMs);
    else socket.write(isMessage ? MESSAGE : PLAIN);
  });
}

function answerStream(socket: Socket, pieces: readonly Buffer[], pieceMs: number): void {
  socket.write(STREAM_HEAD);
  const send = (i: number): void => {
    const piece = pieces[i];
    if (piece === undefined || socket.destroyed) return;
    socket.write(piece);
    if (pieceMs === 0) setImmediate(send, i + 1);
    else setTimeout(send, pieceMs, i + 1);
  };
  send(0);
}
