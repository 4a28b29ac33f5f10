/**
 * Complete replies of one turn of the event loop, which go out together at its end.
 * Owns when their last write is; must not be used for a piece of a stream, which is awaited as it comes.
 * A caller that sleeps is woken by the first of them and awake for the others, and to wake it is the largest part of
 * what a short write costs.
 */
import type { ServerResponse } from 'node:http';

interface TurnReply {
  readonly res: ServerResponse;
  readonly body: Buffer;
}

let turn: TurnReply[] = [];

/** Ends a reply whose head is written, after this turn's other work; one whose caller has left goes nowhere. */
export function endWithTurn(res: ServerResponse, body: Buffer): void {
  turn.push({ res, body });
  if (turn.length === 1) setImmediate(endAll);
}

function endAll(): void {
  const replies = turn;
  turn = [];
  for (const { res, body } of replies) res.end(body);
}
