/**
 * Events of a conversation as an iteration that survives its connections: each once and in order.
 * Owns going on behind the last one that was read.
 */
import { ClientError } from './client-error.ts';
import { lastingFrames, type LastingOptions } from './lasting-frames.ts';
import type { TransportOptions } from './transport.ts';

export interface StreamedEvent {
  /** Hand it back as `afterSeq` to go on behind this event. */
  readonly seq: number;
  readonly event: { readonly id: string; readonly kind: string; readonly [field: string]: unknown };
}

export interface EventStreamOptions extends Partial<LastingOptions> {
  /** 0 is the whole history. */
  readonly afterSeq?: number;
}

/** Ends when the conversation is deleted, and at nothing else: it outlasts any outage. @throws ClientError; the reason of the signal */
export async function* streamEvents(
  transport: TransportOptions,
  conversationId: string,
  { afterSeq = 0, signal = transport.signal, ...options }: EventStreamOptions = {},
): AsyncGenerator<StreamedEvent, void, undefined> {
  let seq = afterSeq;
  const path = (): string =>
    `/api/v1/conversation/${encodeURIComponent(conversationId)}/events/stream?after_seq=${seq}`;
  try {
    for await (const { id, name, data } of lastingFrames(transport, path, { ...options, signal })) {
      if (name === 'deleted') return;
      seq = id;
      yield { seq, event: JSON.parse(data) as StreamedEvent['event'] };
    }
  } catch (error) {
    // It was there, and was deleted while nobody could say so.
    if (error instanceof ClientError && error.status === 404 && seq > afterSeq) return;
    throw error;
  }
}
