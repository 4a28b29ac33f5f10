/** One script on simulator and embedded engine. Owns what equal means: every entity, every step, no broken invariant. */
import { expect } from 'vitest';
import { playEmbedded } from './play-embedded.ts';
import { playSimulated } from './play-simulated.ts';
import type { Script } from '../../simulator/script.ts';

/** Resolves with the number of steps that were compared. */
export async function expectEqual(script: Script): Promise<number> {
  const { traces, violations } = playSimulated(script);
  const embedded = await playEmbedded(script);
  expect([...embedded.byEntity.keys()].sort()).toEqual([...traces.byEntity.keys()].sort());
  for (const [entity, trace] of traces.byEntity)
    expect({ entity, trace: embedded.byEntity.get(entity) }).toEqual({ entity, trace });
  expect({ script: script.name, violations }).toEqual({ script: script.name, violations: [] });
  return traces.count;
}
