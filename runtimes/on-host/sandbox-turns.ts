/**
 * One change of a sandbox at a time.
 * Owns the queue per sandbox, the ending of starts that were overtaken, and the memory of ended generations (D14).
 * Must not know what a change does.
 */
import type { SandboxId } from '../../core/ids.ts';
import { REMEMBERED_REMOVALS_MAX } from './limits.ts';

interface RunningStart {
  readonly generation: number;
  readonly overtaken: AbortController;
}

export interface SandboxTurns {
  /** Runs `work` when its turn comes; older starts that still wait are aborted. */
  start<T>(
    target: { readonly id: SandboxId; readonly generation: number },
    work: (overtaken: AbortSignal) => Promise<T>,
  ): Promise<T>;
  /** Runs `work` when its turn comes; starts up to that generation are aborted. */
  end<T>(target: { readonly id: SandboxId; readonly generation: number }, work: () => Promise<T>): Promise<T>;
  /** Runs `work` when its turn comes, and aborts no start. */
  change<T>(id: SandboxId, work: () => Promise<T>): Promise<T>;
  /** Whether a start is under way or waits for its turn. */
  isStarting(id: SandboxId): boolean;
  /** Highest generation known to have ended for good; 0 when none is. */
  endedGeneration(id: SandboxId): number;
  rememberEnded(target: { readonly id: SandboxId; readonly generation: number }): void;
}

export function createSandboxTurns(): SandboxTurns {
  const tails = new Map<SandboxId, Promise<void>>();
  const starts = new Map<SandboxId, Set<RunningStart>>();
  const ended = new Map<SandboxId, number>();

  function inTurn<T>(id: SandboxId, work: () => Promise<T>): Promise<T> {
    const result = (tails.get(id) ?? Promise.resolve()).then(work);
    const tail = result.then(
      () => undefined,
      () => undefined,
    );
    tails.set(id, tail);
    void tail.then(() => {
      if (tails.get(id) === tail) tails.delete(id);
    });
    return result;
  }

  function overtake(id: SandboxId, generationMax: number): void {
    for (const start of starts.get(id) ?? []) {
      if (start.generation <= generationMax) start.overtaken.abort();
    }
  }

  return {
    async start({ id, generation }, work) {
      overtake(id, generation - 1);
      const own: RunningStart = { generation, overtaken: new AbortController() };
      const running = starts.get(id) ?? new Set();
      starts.set(id, running.add(own));
      try {
        return await inTurn(id, () => work(own.overtaken.signal));
      } finally {
        running.delete(own);
        if (running.size === 0 && starts.get(id) === running) starts.delete(id);
      }
    },
    end({ id, generation }, work) {
      overtake(id, generation);
      return inTurn(id, work);
    },
    change: inTurn,
    isStarting: (id) => starts.has(id),
    endedGeneration: (id) => ended.get(id) ?? 0,
    rememberEnded({ id, generation }) {
      const highest = Math.max(generation, ended.get(id) ?? 0);
      ended.delete(id);
      ended.set(id, highest);
      const oldest = ended.keys().next().value;
      if (ended.size > REMEMBERED_REMOVALS_MAX && oldest !== undefined) ended.delete(oldest);
    },
  };
}
