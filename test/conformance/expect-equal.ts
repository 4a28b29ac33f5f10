/** One script on simulator and embedded engine. Owns what equal means: every entity, every step, no broken invariant. */
import { isDeepStrictEqual } from 'node:util';
import { expect } from 'vitest';
import { playEmbedded } from './play-embedded.ts';
import { playSimulated, type Played } from './play-simulated.ts';
import type { ProbedScript } from './probe.ts';

/** Resolves with the number of steps that were compared. */
export async function expectEqual(script: ProbedScript): Promise<number> {
  const { traces, violations } = await compare(script);
  expect({ script: script.name, violations }).toEqual({ script: script.name, violations: [] });
  return traces.count;
}

/** Invariants are left out: a probe may send what is not so, to show how the machines react. */
export async function expectSameSteps(script: ProbedScript): Promise<number> {
  return (await compare(script)).traces.count;
}

async function compare(script: ProbedScript): Promise<Played> {
  const played = playSimulated(script);
  const embedded = await playEmbedded(script);
  expect([...embedded.byEntity.keys()].sort()).toEqual([...played.traces.byEntity.keys()].sort());
  for (const [entity, trace] of played.traces.byEntity) {
    const other = embedded.byEntity.get(entity);
    // The matcher says what differs, and takes many times as long for what is equal.
    if (isDeepStrictEqual(other, trace)) continue;
    expect({ script: script.name, entity, trace: other }).toEqual({ script: script.name, entity, trace });
  }
  return played;
}
