/**
 * Errors at the border of a runtime.
 * Owns turning what the system refuses into an error that a caller can act upon.
 */
import { ParleyError } from '../../core/parley-error.ts';

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
