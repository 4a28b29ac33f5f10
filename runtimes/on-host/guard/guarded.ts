/**
 * Errors at the border of a runtime.
 * Owns turning what the system refuses into an error that a caller can act upon.
 */
import { ParleyError } from '../../../core/parley-error.ts';
import type { SandboxRuntime } from '../../../ports/sandbox-runtime.ts';

/** What every runtime does, beside what it can. */
export type RuntimeOperations = Required<Omit<SandboxRuntime, 'capabilities' | 'freezer' | 'openWays'>>;

/** The same operations, each of which says what it was doing. `inspect` never throws, and an export has errors of its own. */
export function guardedOperations(operations: RuntimeOperations): RuntimeOperations {
  return {
    removeLeftovers: () => guarded('remove leftovers', operations.removeLeftovers()),
    start: (request) => guarded(`start sandbox "${request.sandboxId}"`, operations.start(request)),
    stop: (target) => guarded(`stop sandbox "${target.sandboxId}"`, operations.stop(target)),
    destroy: (id) => guarded(`remove sandbox "${id}"`, operations.destroy(id)),
    inspect: (id) => operations.inspect(id),
    list: () => guarded('list sandboxes', operations.list()),
    exportWorkspace: (id) => operations.exportWorkspace(id),
  };
}

/** What the system refuses (a full disk, a mode) says nothing about the sandbox: the caller may ask again. */
export async function guarded<T>(what: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ParleyError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new ParleyError('runtime_unreachable', `Cannot ${what}: ${reason}`, { cause: error });
  }
}
