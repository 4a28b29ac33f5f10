/** Locks a data directory, prints "held" or the code and owner of the refusal, and stays until killed. Argument: directory. */
import { writeSync } from 'node:fs';
import { asParleyError } from '../../../core/parley-error.ts';
import { lockDataDirectory } from '../../../store/engine/data-directory-lock.ts';
import { atTheGate } from './gate.ts';

export async function runLockHolder(args: readonly string[]): Promise<void> {
  const [directory = ''] = args;
  await atTheGate();
  try {
    lockDataDirectory(directory, { startedAt: Date.now() });
    writeSync(1, 'held\n');
    setInterval(() => undefined, 60_000);
  } catch (error) {
    const { code, details } = asParleyError(error);
    writeSync(1, `${code} ${details['pid'] ?? ''}\n`);
  }
}
