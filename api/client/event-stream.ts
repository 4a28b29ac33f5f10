/**
 * Events of a conversation as an iteration that survives its connections: each once and in order.
 * Owns reading server-sent events and going on behind the last one that was read.
 */
import { ClientError } from './client-error.ts';
import { sendCall, wait, type TransportOptions } from './transport.ts';

export interface StreamedEvent {
  /** Hand it back as `afterSeq` to go on behind this event. */
  readonly seq: number;
  readonly event: { readonly id: string; readonly kind: string; readonly [field: string]: unknown };
}

export interface EventStreamOptions {
  /** 0 is the whole history. */
  readonly afterSeq?: number;
  readonly signal?: AbortSignal;
}

/** Between two connections; the server ends a stream when it ends itself. */
const AGAIN_MS = 500;
/** Connections in a row that brought nothing. */
const EMPTY_MAX = 20;

/** Ends when the conversation is deleted. @throws ClientError; the reason of the signal */
export async function* streamEvents(
  transport: TransportOptions,
  conversationId: string,
  { afterSeq = 0, signal = transport.signal }: EventStreamOptions = {},
): AsyncGenerator<StreamedEvent, void, undefined> {
  let seq = afterSeq;
  for (let empty = 0; empty < EMPTY_MAX; empty += 1) {
    const path = `/api/v1/conversation/${encodeURIComponent(conversationId)}/events/stream?after_seq=${seq}`;
    const { body } = await sendCall(transport, { method: 'GET', path, signal });
    for await (const { id, name, data } of framesOf(body)) {
      if (name === 'deleted') return;
      seq = id;
      empty = -1;
      yield { seq, event: JSON.parse(data) as StreamedEvent['event'] };
    }
    await wait(AGAIN_MS, signal);
  }
  throw new ClientError(503, { detail: 'The stream of events ends again and again' }, null);
}

interface Frame {
  readonly id: number;
  readonly name: string;
  readonly data: string;
}

/** A connection that breaks ends them. */
export async function* framesOf(body: Response['body']): AsyncGenerator<Frame, void, undefined> {
  if (body === null) return;
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(broken);
      if (done) return;
      const parts = `${text}${value}`.split('\n\n');
      text = parts.pop() ?? '';
      for (const part of parts) {
        const frame = frameOf(part);
        if (frame !== null) yield frame;
      }
    }
  } finally {
    // Whoever stops early lets the server know.
    await reader.cancel().catch(() => undefined);
  }
}

/** An end that somebody wanted is told; any other one is an end of the connection. */
function broken(error: unknown): { readonly done: true; readonly value: undefined } {
  if (error instanceof Error && error.name === 'AbortError') throw error;
  return { done: true, value: undefined };
}

/** Null for a comment, which only keeps the connection open. */
function frameOf(part: string): Frame | null {
  const fields = new Map(
    part.split('\n').map((line) => {
      const at = line.indexOf(': ');
      return at <= 0 ? ['', ''] : [line.slice(0, at), line.slice(at + 2)];
    }),
  );
  const [name, data] = [fields.get('event'), fields.get('data')];
  return name === undefined || data === undefined ? null : { id: Number(fields.get('id') ?? 0), name, data };
}
