/**
 * Why a container died, as far as the daemon and its log say.
 * Owns the cause; the sentence is put together in on-host/last-words.ts.
 */
import type { CrashCause } from '../../ports/sandbox-runtime.ts';
import { DISK_LIMIT, diskLimitLeft, KILLED, lastWords, type LastWords } from '../on-host/last-words.ts';
import { LAST_WORDS_BYTES_MAX } from '../on-host/limits.ts';
import type { SandboxPlace } from '../on-host/sandbox-place.ts';
import { readLog, type Containers, type ContainerState } from './containers.ts';

export interface DeadSandbox {
  readonly place: SandboxPlace;
  readonly name: string;
  /** Null when the daemon does not have it any more. */
  readonly container: ContainerState | null;
}

export async function readLastWords(on: Containers, dead: DeadSandbox): Promise<LastWords> {
  const cause = await causeOf(dead);
  if (dead.container === null) {
    const words =
      cause.kind === DISK_LIMIT ? lastWords(cause, '') : 'its container was removed by somebody else';
    return { cause, words };
  }
  const log = await readLog(on, dead.name);
  return { cause, words: lastWords(cause, log.slice(-LAST_WORDS_BYTES_MAX)) };
}

/** A tool that used up the memory is ended by the kernel and the sandbox goes on; only a kill of the agent counts. */
async function causeOf({ place, container }: DeadSandbox): Promise<CrashCause> {
  const overDisk = await diskLimitLeft(place.endedFor);
  if (overDisk !== null) return overDisk;
  if (container === null) return { kind: 'exit', exitCode: null };
  const { exitCode, outOfMemory } = container;
  return outOfMemory && exitCode === KILLED ? { kind: 'out_of_memory' } : { kind: 'exit', exitCode };
}
