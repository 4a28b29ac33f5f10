/**
 * The program `time-skipping`: as a process it hosts engines, as a thread it relays calls to that process.
 * Owns the choice between the two; what is heavy is loaded by the one that needs it.
 */
import { isMainThread } from 'node:worker_threads';

if (isMainThread) {
  const { serveEngines } = await import('./serve-engines.ts');
  serveEngines();
} else {
  const { relayCalls } = await import('./relay-calls.ts');
  relayCalls();
}
