/**
 * Which scripts are played on Temporal, and with what patience.
 * Owns the list of those that are left out, by name and with the reason.
 */
import type { Script } from '../../simulator/script.ts';

/**
 * Real time of one script on a server of its own, on a machine that is busy with other tests. What comes from different
 * senders in one instant may come in either order on a server: a difference counts when a second play shows one, too.
 */
export const PATIENCE = { timeout: 120_000, retry: 1 } as const;

/**
 * In these the simulator lets two things happen in one millisecond, and what comes out rests on it. On Temporal each has a
 * millisecond of its own; a script beside each of them is about the same without the coincidence.
 */
const COINCIDENCES: ReadonlySet<string> = new Set([
  // Two sandboxes are created at once, and the older one is chosen.
  'a batch in one shared sandbox, reconciled, conversations removed',
  // Three conversations hear at once that their sandbox goes, and tell their run.
  'a batch in one shared sandbox, one item after the other',
  // Two refused starts are due again at once, in one deadline of the run.
  'no slot for half of a batch',
  // Three conversations tell their sandbox at once that their agents rest.
  'a shared sandbox is deleted under three conversations',
  // Two agents are stopped at once, and what ends first is collected first.
  'cancelled at work',
  // Two items end at once, and the number of an order says which was first.
  'more at once, in the middle',
]);

/**
 * Scripts in which a clock ends the work, with what a millisecond of it costs, in nano-USD: an agent works a few real
 * milliseconds longer, and is billed for them.
 */
export const BILLED_BY_TIME: ReadonlyMap<string, number> = new Map([['an item works too long', 1_320]]);

export function playedOnTemporal<One extends Script>(
  scripts: readonly One[],
): { readonly played: readonly One[]; readonly leftOut: readonly One[] } {
  return {
    played: scripts.filter(({ name }) => !COINCIDENCES.has(name)),
    leftOut: scripts.filter(({ name }) => COINCIDENCES.has(name)),
  };
}
