/**
 * The thread that reads a long export, while the main one reads the calls to join it with.
 * Owns how far it is ahead of the thread that takes its rows; what a row is, export-file.ts says.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { asParleyError } from '../../core/parley-error.ts';
import { streamExportFile } from './export-file.ts';
import { BYTES_AHEAD_MAX, type ReaderData, type ReaderSaying } from './export-thread.ts';
import { buffersOf, bytesIn, packRows } from './row-batch.ts';

const { path, reading, sayings } = workerData as ReaderData;
const port = parentPort;
let ahead = 0;
let goOn = (): void => undefined;
// Each message says how many bytes were taken.
port?.on('message', (bytes: number) => {
  ahead -= bytes;
  goOn();
});

function say(saying: ReaderSaying, buffers: readonly ArrayBuffer[] = []): void {
  sayings.postMessage(saying, buffers);
  port?.postMessage(null);
}

try {
  for await (const list of streamExportFile(path, reading)) {
    while (ahead >= BYTES_AHEAD_MAX) await new Promise<void>((resolve) => (goOn = resolve));
    const batch = packRows(list);
    const bytes = bytesIn(batch);
    ahead += bytes;
    say({ said: 'rows', batch, bytes }, buffersOf(batch));
  }
  say({ said: 'end' });
} catch (error) {
  const { code, message, details } = asParleyError(error);
  say({ said: 'error', code, message, details });
}
sayings.close();
port?.close();
