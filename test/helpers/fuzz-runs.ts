/**
 * How many inputs a border is fuzzed with: few in a whole run; where PARLEY_FUZZ names how many there are to be in all,
 * a border's share of them. The seed is that of test/helpers/property-seed.ts.
 * Owns the counting of what was played, and how much memory was kept by it.
 */
import { appendFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'vitest';

const MEBIBYTE = 1024 ** 2;
/** Of what inputs leave behind; a cache that they fill to its bound takes less. */
const KEPT_MIB_MAX = 64;

export function fuzzRuns(few: number, share = 1): { readonly numRuns: number } {
  const asked = Math.round(Number(process.env['PARLEY_FUZZ'] ?? few) * share);
  return { numRuns: process.env['PARLEY_FUZZ'] !== undefined && asked > 0 ? asked : few };
}

export interface Border {
  /** One input that the border was given. */
  played(): void;
}

/**
 * Plays the inputs of a border. What they leave in memory has a bound; how many they were goes to the file that
 * PARLEY_FUZZ_COUNTS names, which `npm run fuzz` prints.
 */
export async function playBorder(name: string, play: (border: Border) => unknown): Promise<void> {
  const before = heapMiB();
  let inputs = 0;
  await play({ played: () => void (inputs += 1) });
  const keptMiB = heapMiB() - before;
  expect(keptMiB).toBeLessThan(KEPT_MIB_MAX);
  const file = process.env['PARLEY_FUZZ_COUNTS'];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ name, inputs, keptMiB })}\n`);
}

/** After everything that can be collected was. */
function heapMiB(): number {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  return process.memoryUsage().heapUsed / MEBIBYTE;
}
