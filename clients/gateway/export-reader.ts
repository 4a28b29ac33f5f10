/**
 * The thread that reads a long export, while the main one reads the calls to join it with.
 * Owns how far it is ahead of whoever takes its rows; what a row is, export-file.ts says.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { asParleyError } from '../../core/parley-error.ts';
import { streamExportFile } from './export-file.ts';
import { BATCHES_AHEAD_MAX, type ReaderData, type ReaderSaying } from './export-thread.ts';
import { packRows } from './row-batch.ts';

const { path, reading } = workerData as ReaderData;
const port = parentPort;
let places = BATCHES_AHEAD_MAX;
let goOn = (): void => undefined;
// Each message is a batch that was taken.
port?.on('message', () => {
  places += 1;
  goOn();
});

function say(saying: ReaderSaying): void {
  port?.postMessage(saying);
}

try {
  for await (const list of streamExportFile(path, reading)) {
    if (places === 0) await new Promise<void>((resolve) => (goOn = resolve));
    places -= 1;
    say({ said: 'rows', batch: packRows(list) });
  }
  say({ said: 'end' });
} catch (error) {
  const { code, message, details } = asParleyError(error);
  say({ said: 'error', code, message, details });
}
port?.close();
