/**
 * Whether who asked still waits for the answer.
 * Owns the one way to see it.
 */
import type { ServerResponse } from 'node:http';

/** Aborts once the connection is closed, also after an answer; who has left already says so no more. */
export function leftSignal(raw: ServerResponse): AbortSignal {
  const left = new AbortController();
  if (raw.destroyed || raw.socket === null || raw.socket.destroyed) left.abort();
  raw.once('close', () => left.abort());
  return left.signal;
}
