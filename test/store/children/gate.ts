/** Where programs wait for each other, so that what they do next really happens at once. */
import { once } from 'node:events';
import { writeSync } from 'node:fs';

/** Prints "ready" and waits for the word of the test. */
export async function atTheGate(): Promise<void> {
  writeSync(1, 'ready\n');
  await once(process.stdin, 'data');
  process.stdin.destroy();
}
