/**
 * Whether a caller of the Git relay takes what is ready for it.
 * Owns the watching; a caller that takes next to nothing holds a place that others wait for. What a code host or Git
 * itself needs is not counted against it.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { PROGRESS_BYTES_MIN } from './limits.ts';

export interface Progress {
  /** Aborts when the caller has made none for too long. */
  readonly signal: AbortSignal;
  stop(): void;
}

/** Looks a few times within the time, so that the caller has hardly more than that. */
const LOOKS = 4;

export function withoutProgress(
  { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  withinMs: number,
): Progress {
  const stuck = new AbortController();
  const { socket } = request;
  let moved = 0;
  let looksWithout = 0;
  const timer = setInterval(() => {
    const now = socket.bytesRead + socket.bytesWritten;
    const isOurs = request.complete && !response.writableNeedDrain;
    if (isOurs || now - moved >= PROGRESS_BYTES_MIN) {
      moved = now;
      looksWithout = 0;
      return;
    }
    looksWithout += 1;
    if (looksWithout > LOOKS) stuck.abort(new Error('the caller does not take the answer'));
  }, withinMs / LOOKS);
  timer.unref();
  return { signal: stuck.signal, stop: () => clearInterval(timer) };
}
