/**
 * Reading what lies beside the results of a run's items, many at a time.
 * Owns the bound, and that a file which cannot be read is none; a store that does not answer is no such file.
 */
import { ParleyError } from '../../core/parley-error.ts';
import type { ResultName, Results } from '../../ports/results.ts';

/** Of one way to an object store and back each; a disk needs no more. */
const AT_ONCE = 16;

/** Null for what is not there, is no file, or cannot be read. @throws ParleyError store_unavailable, part_missing */
export async function readOrNull(
  results: Results,
  file: ResultName,
  bytesMax?: number,
): Promise<Uint8Array | null> {
  try {
    return await results.read(file, bytesMax);
  } catch (error) {
    if (error instanceof ParleyError && (error.code === 'store_unavailable' || error.code === 'part_missing'))
      throw error;
    return null;
  }
}

/** In the order of `things`. */
export async function readEach<Thing, Found>(
  things: readonly Thing[],
  read: (thing: Thing) => Promise<Found>,
): Promise<readonly Found[]> {
  const found: Found[] = [];
  const left = things.entries();
  const work = async (): Promise<void> => {
    for (const [index, thing] of left) found[index] = await read(thing);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, things.length) }, work));
  return found;
}
