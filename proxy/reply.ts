/**
 * How a gateway's reply is passed on.
 * Owns the interface between the call and the two ways, held and streamed, and what either learned.
 */
import type { Failure } from './failure.ts';
import type { Usage } from './usage.ts';

export interface Reply {
  /** Takes bytes of the gateway; false asks it to pause until `res` drains. */
  data(chunk: Buffer): boolean;
  /** The gateway's reply is complete. Returns whether the call succeeded. */
  end(): boolean;
  /** The gateway hung up or was too slow. Returns whether the call had succeeded all the same. */
  drop(failed: Failure): boolean;
  /** The caller has its whole reply although the gateway has not ended: nothing further is wanted of it. */
  readonly isOver: boolean;
  /** What is known so far; at an abort that may be all there is. */
  readonly responseId: string | null;
  readonly usage: Usage | null;
}
