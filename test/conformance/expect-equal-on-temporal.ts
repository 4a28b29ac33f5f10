/** One script on simulator, embedded engine and Temporal. Owns what is asked of the third; the first two are expect-equal.ts's. */
import { afterAll, expect } from 'vitest';
import type { Script } from '../../simulator/script.ts';
import { expectEqual } from './expect-equal.ts';
import { playSimulated } from './play-simulated.ts';
import { playTemporal, servers, type PlayedOnTemporal } from './play-temporal.ts';
import { BILLED_BY_TIME } from './played-on-temporal.ts';
import { differences } from './temporal/same-traces.ts';

afterAll(() => servers.stop());

/** The embedded engine to the millisecond, Temporal as exactly as a clock that cannot be held allows. */
export async function expectEqualOnThree(script: Script): Promise<void> {
  expect(await expectEqual(script)).toBeGreaterThan(1);
  await expectEqualOnTemporal(script);
}

export async function expectEqualOnTemporal(
  script: Script,
  options: Parameters<typeof playTemporal>[1] = {},
): Promise<PlayedOnTemporal> {
  const { traces } = playSimulated(script);
  const played = await playTemporal(script, options);
  const nanoUsdPerMs = BILLED_BY_TIME.get(script.name) ?? 0;
  const found = differences(traces, played, { nanoUsdPerMs });
  // A second play is not to meet what made the first one different.
  if (found.length > 0) await servers.stop();
  expect({ script: script.name, differences: found }).toEqual({ script: script.name, differences: [] });
  return played;
}
