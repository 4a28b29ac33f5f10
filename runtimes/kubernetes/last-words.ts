/**
 * Why an incarnation died, as far as its pod, its log and our own note say.
 * Owns the order of what is believed; the sentence is put together in on-host/last-words.ts.
 */
import type { CrashCause } from '../../ports/sandbox-runtime.ts';
import { lastWords, type LastWords } from '../on-host/last-words.ts';
import { LAST_WORDS_BYTES_MAX } from '../on-host/limits.ts';
import type { PodState } from './pod-state.ts';
import { readLog, type Pods } from './pods.ts';

export interface DeadSandbox {
  /** What we noted when we ended it ourselves; null when we did not. */
  readonly endedFor: string | null;
  /** Null when the cluster does not have it any more. */
  readonly pod: PodState | null;
}

const UNSEEN: CrashCause = { kind: 'exit', exitCode: null };

export async function readLastWords(on: Pods, { endedFor, pod }: DeadSandbox): Promise<LastWords> {
  if (endedFor !== null) return { cause: UNSEEN, words: endedFor };
  if (pod === null) return { cause: UNSEEN, words: 'its pod was removed by somebody else' };
  const { status } = pod;
  if (status.kind !== 'ended') return { cause: UNSEEN, words: problemOf(pod) };
  const log = await readLog(on, pod.name);
  const words = lastWords(status.cause, log.slice(-LAST_WORDS_BYTES_MAX));
  return { cause: status.cause, words: status.words === '' ? words : `${status.words}; ${words}` };
}

function problemOf({ status }: PodState): string {
  return status.kind === 'pending' && status.problem !== null ? status.problem : 'its pod did not start';
}
