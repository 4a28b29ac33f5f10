// How one kind of call looks on the wire, where two kinds differ: its body, its id, its answer.
// It must not choose turns, wait or bill.

import type { Answer, ResponseHead } from './answer.ts';
import type { ChatRequest } from './chat-request.ts';
import type { Usage } from './script/script.ts';

/** A call as clients of one vendor send it. */
export interface WireForm {
  /** Reads a body into what turns are chosen by. Throws an ApiError 400 that names the first field at fault. */
  readonly read: (body: unknown) => ChatRequest;
  readonly idPrefix: string;
  readonly body: (head: ResponseHead, answer: Answer, usage: Usage) => unknown;
  /** Every frame of a streamed response. */
  readonly frames: (
    head: ResponseHead,
    answer: Answer,
    asked: { readonly usage: Usage; readonly request: ChatRequest },
  ) => Iterable<string>;
}
