/**
 * A runtime behind a bad line: its calls fail before they are done, are done and seem to fail, or take effect late.
 * Owns the faults, by turns and without chance, and what every caller does about them: ask again. Put together they must
 * be a runtime like any other, so the contract suite runs over them.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { SandboxRuntime } from '../../ports/sandbox-runtime.ts';

/** `unavailable`: nothing was done. `execute_and_timeout`: it was done, and the answer is lost. `fine`: neither. */
export type CallFault = 'unavailable' | 'execute_and_timeout' | 'fine';

/** Two failures in a row at most, and each kind before and after the other. */
const TURNS: readonly CallFault[] = [
  'unavailable',
  'execute_and_timeout',
  'fine',
  'execute_and_timeout',
  'fine',
];
/** Calls that are made at once take turns of each other; past it something else is wrong. */
const TRIES_MAX = 12;

export interface FaultCounts {
  readonly struck: Map<CallFault, number>;
}

/** Every call that a driver may repeat, over a line that fails by turns. */
export function faultyRuntime(runtime: SandboxRuntime, counts: FaultCounts): SandboxRuntime {
  let turn = 0;
  const line = async <T>(what: string, work: () => Promise<T>): Promise<T> => {
    const fault = TURNS[turn++ % TURNS.length] ?? 'fine';
    counts.struck.set(fault, (counts.struck.get(fault) ?? 0) + 1);
    switch (fault) {
      case 'unavailable':
        throw new ParleyError('runtime_unreachable', `Cannot ${what}: the line is down`);
      case 'execute_and_timeout':
        await work();
        throw new ParleyError('runtime_unreachable', `Cannot ${what}: no answer came`);
      case 'fine':
        return await work();
    }
  };
  const { freezer, removeLeftovers } = runtime;
  return {
    ...runtime,
    ...(freezer === undefined
      ? {}
      : {
          freezer: {
            freeze: (target) => line('freeze', () => freezer.freeze(target)),
            thaw: (target) => line('thaw', () => freezer.thaw(target)),
          },
        }),
    ...(removeLeftovers === undefined
      ? {}
      : { removeLeftovers: () => line('sweep', () => removeLeftovers()) }),
    start: (request) => line('start', () => runtime.start(request)),
    stop: (target) => line('stop', () => runtime.stop(target)),
    destroy: (id) => line('destroy', () => runtime.destroy(id)),
    list: () => line('list', () => runtime.list()),
    async inspect(id) {
      try {
        return await line('inspect', () => runtime.inspect(id));
      } catch (error) {
        return { kind: 'unknown', reason: String(error) };
      }
    },
  };
}

/** What the drivers do: a runtime that cannot be asked is asked again, with the very same order. */
export function persistentRuntime(runtime: SandboxRuntime): SandboxRuntime {
  const again = async <T>(work: () => Promise<T>): Promise<T> => {
    for (let tries = 1; ; tries += 1) {
      try {
        return await work();
      } catch (error) {
        const isPassing = error instanceof ParleyError && error.code === 'runtime_unreachable';
        if (!isPassing || tries >= TRIES_MAX) throw error;
      }
    }
  };
  const { freezer, removeLeftovers } = runtime;
  return {
    ...runtime,
    ...(freezer === undefined
      ? {}
      : {
          freezer: {
            freeze: (target) => again(() => freezer.freeze(target)),
            thaw: (target) => again(() => freezer.thaw(target)),
          },
        }),
    ...(removeLeftovers === undefined ? {} : { removeLeftovers: () => again(() => removeLeftovers()) }),
    start: (request) => again(() => runtime.start(request)),
    stop: (target) => again(() => runtime.stop(target)),
    destroy: (id) => again(() => runtime.destroy(id)),
    list: () => again(() => runtime.list()),
    async inspect(id) {
      for (let tries = 1; ; tries += 1) {
        const presence = await runtime.inspect(id);
        if (presence.kind !== 'unknown' || tries >= TRIES_MAX) return presence;
      }
    },
  };
}
