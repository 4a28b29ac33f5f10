/**
 * A run as an iteration over its changes that survives its connections.
 * Owns going on after one that broke; the server tells the whole run first each time.
 */
import type { RunItemRecord, RunRecord } from '../runs/run-record.ts';
import { lastingFrames, type LastingOptions } from './lasting-frames.ts';
import type { TransportOptions } from './transport.ts';

export interface RunChange {
  readonly run: RunRecord;
  /** Those that are others than before; all of them in the first change of a connection. */
  readonly items: readonly RunItemRecord[];
}

export type RunStreamOptions = Partial<LastingOptions>;

/** Ends when the run has finished, and at nothing else: it outlasts any outage. @throws ClientError; the reason of the signal */
export async function* streamRun(
  transport: TransportOptions,
  runId: string,
  { signal = transport.signal, ...options }: RunStreamOptions = {},
): AsyncGenerator<RunChange, void, undefined> {
  const path = `/api/v1/runs/${encodeURIComponent(runId)}/stream`;
  for await (const { name, data } of lastingFrames(transport, () => path, { ...options, signal })) {
    if (name === 'finished') return;
    yield JSON.parse(data) as RunChange;
  }
}
