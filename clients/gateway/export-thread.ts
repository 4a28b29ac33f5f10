/**
 * Reading a long export on a thread of its own: half of reconciliation is reading the rows, and the other half is not.
 * Owns the thread, from the first row that is requested until the last was given or the caller wants no more.
 */
import { MessageChannel, receiveMessageOnPort, Worker, type MessagePort } from 'node:worker_threads';
import type { ErrorCode } from '../../core/error-catalogue.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { GatewayRow } from '../../core/money/spend.ts';
import type { ExportReading } from '../../ports/gateway-export.ts';
import { unpackRows, type RowBatch } from './row-batch.ts';

/**
 * Of rows that wait to be taken: some 400,000, about as many as are read while twice as many calls are. With less the thread stands
 * still until all calls are there, and is waited for afterwards.
 */
export const BYTES_AHEAD_MAX = 32 * 1024 * 1024;

export interface ReaderData {
  readonly path: string;
  readonly reading: ExportReading;
  /** Where it sends what it has; each time it also sends an empty message, which wakes the waiting main thread. */
  readonly sayings: MessagePort;
}

export type ReaderSaying =
  | { readonly said: 'rows'; readonly batch: RowBatch; readonly bytes: number }
  | { readonly said: 'end' }
  | {
      readonly said: 'error';
      readonly code: ErrorCode;
      readonly message: string;
      readonly details: ParleyError['details'];
    };

/** `program` is export-reader.ts, built. @throws ParleyError export_invalid, as streamExportFile */
export async function* threadedRows(
  program: string,
  data: Omit<ReaderData, 'sayings'>,
): AsyncIterable<Iterable<GatewayRow>> {
  const { port1, port2 } = new MessageChannel();
  const thread = new Worker(program, {
    workerData: { ...data, sayings: port2 } satisfies ReaderData,
    transferList: [port2],
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: 8 },
  });
  let failure: Error | null = null;
  let wake = (): void => undefined;
  thread.on('message', () => wake());
  const fail = (error: Error): void => {
    failure ??= error;
    wake();
  };
  thread.on('error', fail);
  thread.on('exit', () => fail(new Error('Cannot read the export: its thread has ended')));
  try {
    for (;;) {
      // Received on demand: messages that arrive as events would stay in the heap while they wait, and fill it.
      const said = receiveMessageOnPort(port1) as { readonly message: ReaderSaying } | undefined;
      if (said === undefined) {
        if (failure !== null) throw failure as Error;
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      const saying = said.message;
      if (saying.said === 'end') return;
      if (saying.said === 'error') throw errorOf(saying);
      thread.postMessage(saying.bytes);
      yield unpackRows(saying.batch);
    }
  } finally {
    port1.close();
    await thread.terminate();
  }
}

function errorOf({ code, message, details }: Extract<ReaderSaying, { said: 'error' }>): ParleyError {
  return new ParleyError(code, message, { details });
}
