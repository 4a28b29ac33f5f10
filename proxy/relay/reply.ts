/**
 * How a gateway's reply is passed on.
 * Owns the interface between the call and its two forms of reply, held and streamed, and what each learns.
 */
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { Failure } from '../failure.ts';
import type { ReplyHeaders } from './gateway-reply.ts';
import type { RelayKind } from './relay-kind.ts';
import type { Usage } from '../spend/usage.ts';

/** `cut`: it ended before it was whole, although the connection did not say so. */
export type ReplyEnd = 'succeeded' | 'failed' | 'cut';

export interface ReplyOptions {
  readonly res: ServerResponse;
  readonly kind: RelayKind;
  readonly status: number;
  readonly headers: ReplyHeaders;
  /** Of the proxy, name and value alternating. */
  readonly ownHeaders: readonly OutgoingHttpHeader[];
  readonly apiKey: string;
  /** The name that the caller used. */
  readonly modelName: string;
  /** Whether the caller itself requested the usage frame. */
  readonly isUsageShown: boolean;
  /** Whether another try follows such a failure, so that the caller gets no answer; null for a reply that was cut. */
  readonly handOver: (status: number | null) => boolean;
}

export interface Reply {
  /** Takes bytes of the gateway; after false the call pauses until `res` drains. */
  data(chunk: Buffer): boolean;
  /** The gateway's reply has ended. */
  end(): ReplyEnd;
  /** The gateway hung up or was too slow. Returns whether the call had succeeded all the same. */
  drop(failed: Failure): boolean;
  /** It is passed on as a stream of events. */
  readonly isStream: boolean;
  /** The gateway sent an error in place of the answer, and no part of an answer before it. */
  readonly isRefused: boolean;
  /** The caller has its whole reply although the gateway has not ended: the rest is discarded. */
  readonly isOver: boolean;
  /** What is known so far; at an abort that may be all there is. */
  readonly responseId: string | null;
  readonly usage: Usage | null;
}
