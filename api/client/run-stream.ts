/**
 * A run as an iteration over its changes that survives its connections.
 * Owns going on after one that broke; the server tells the whole run first each time.
 */
import type { RunItemRecord, RunRecord } from '../runs/run-record.ts';
import { ClientError } from './client-error.ts';
import { framesOf } from './event-stream.ts';
import { sendCall, wait, type TransportOptions } from './transport.ts';

export interface RunChange {
  readonly run: RunRecord;
  /** Those that are others than before; all of them in the first change of a connection. */
  readonly items: readonly RunItemRecord[];
}

export interface RunStreamOptions {
  readonly signal?: AbortSignal;
  /** Connections in a row that could not be made, or brought nothing; 20 by default. */
  readonly emptyMax?: number;
  /** Told once of each connection that broke or could not be made. */
  onBroken?(error: unknown): void;
}

/** Between two connections. */
const AGAIN_MS = 500;
const EMPTY_MAX = 20;

/** Ends when the run has finished. @throws ClientError; the reason of the signal */
export async function* streamRun(
  transport: TransportOptions,
  runId: string,
  { signal = transport.signal, emptyMax = EMPTY_MAX, onBroken }: RunStreamOptions = {},
): AsyncGenerator<RunChange, void, undefined> {
  const path = `/api/v1/runs/${encodeURIComponent(runId)}/stream`;
  let last: unknown = null;
  for (let empty = 0; empty < emptyMax; empty += 1) {
    try {
      const { body } = await sendCall(transport, { method: 'GET', path, signal });
      for await (const { name, data } of framesOf(body)) {
        if (name === 'finished') return;
        empty = -1;
        yield JSON.parse(data) as RunChange;
      }
    } catch (error) {
      // What the server refuses does not change; a server that is away comes back.
      if (error instanceof ClientError && error.status < 500) throw error;
      signal?.throwIfAborted();
      last = error;
    }
    onBroken?.(last);
    await wait(AGAIN_MS, signal);
  }
  throw last ?? new ClientError(503, { detail: 'The stream of the run ends again and again' }, null);
}
