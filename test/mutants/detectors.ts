/**
 * Who looks for planted bugs: one seed in, the first finding out, or null.
 * Owns what counts as a finding: a broken invariant, or a step that the other driver does not take.
 */
import { playSimulated } from '../conformance/play-simulated.ts';
import { randomScript } from '../conformance/random-script.ts';
import { runCase } from '../../simulator/campaign/run-case.ts';

export interface Sighting {
  /** The invariant, or what differs. */
  readonly name: string;
  readonly problem: string;
}

export type Detector = (seed: number) => Promise<Sighting | null>;

export const DETECTORS: Readonly<Record<'campaign' | 'hosts' | 'conformance', Detector>> = {
  campaign: (seed) => Promise.resolve(campaign(seed, false)),
  hosts: (seed) => Promise.resolve(campaign(seed, true)),
  conformance,
};

function campaign(seed: number, hosts: boolean): Sighting | null {
  const [first] = runCase({ seed, hosts }).violations;
  return first === undefined ? null : { name: first.name, problem: `${first.entity}: ${first.problem}` };
}

/** Loaded when it is asked for: it brings the engine and its store with it. */
async function conformance(seed: number): Promise<Sighting | null> {
  const { playEmbedded } = await import('../conformance/play-embedded.ts');
  const script = randomScript(seed);
  const simulated = playSimulated(script).traces.byEntity;
  const embedded = (await playEmbedded(script)).byEntity;
  for (const entity of new Set([...simulated.keys(), ...embedded.keys()])) {
    const steps = JSON.stringify(simulated.get(entity) ?? []);
    if (steps !== JSON.stringify(embedded.get(entity) ?? []))
      return { name: 'conformance', problem: `${entity} takes other steps on the embedded engine` };
  }
  return null;
}
