/**
 * Which engine a world is played on: said by the test, or for all tests of a process by its environment.
 * Owns the names and the variable.
 */

/** `simulator` is a virtual clock; `temporal` is a real Temporal server that skips time, far slower. */
export type WorldEngine = 'simulator' | 'temporal';

const VARIABLE = 'PARLEY_TESTING_ENGINE';

/** @throws RangeError when the environment names no engine */
export function chosenEngine(written: WorldEngine | undefined): WorldEngine {
  const named = process.env[VARIABLE] ?? '';
  if (written !== undefined) return written;
  if (named === '' || named === 'simulator') return 'simulator';
  if (named === 'temporal') return 'temporal';
  throw new RangeError(`Cannot use ${VARIABLE}="${named}": write "simulator" or "temporal"`);
}
