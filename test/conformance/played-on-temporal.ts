/**
 * Which scripts are played on Temporal, and with what patience.
 * Owns the list of those that are left out, by name, with the reason and with what is played instead;
 * played-on-temporal.test.ts says that each reason still holds.
 */
import type { MachineName } from '../../core/ids.ts';
import type { Script } from '../../simulator/script.ts';

/**
 * Real time of one script on a server of its own, on a machine that is busy with other tests. What comes from different
 * senders in one instant may come in either order on a server: a difference counts when a second play shows one, too.
 */
export const PATIENCE = { timeout: 600_000, retry: 1 } as const;

/** In the simulator several conversations send to one entity in one millisecond, and their order decides the result. */
export interface Coincidence {
  readonly because: string;
  /** Of what they send, in one millisecond, to entities of one machine. */
  readonly atOnce: { readonly event: string; readonly tells: MachineName; readonly times: number };
  /** The script that is played in its place: what it is about without the coincidence. */
  readonly instead: string;
}

/** On Temporal their signals come in no defined order, in one task or in several. By the name of the script. */
export const COINCIDENCES: ReadonlyMap<string, Coincidence> = new Map([
  [
    'a batch in one shared sandbox, reconciled, conversations removed',
    {
      because: 'two sandboxes are created at once, and the third item is placed in the older one',
      atOnce: { event: 'placed', tells: 'sandbox', times: 2 },
      instead: 'a batch of one item, reconciled, its conversation removed',
    },
  ],
  [
    'a batch in one shared sandbox, one item after the other',
    {
      because: 'three conversations hear that their sandbox has gone, and tell their run',
      atOnce: { event: 'sandboxNoticed', tells: 'run', times: 3 },
      instead: 'somebody else is in the sandbox that a batch lets go',
    },
  ],
  [
    'no slot for half of a batch',
    {
      because: 'two conversations stand in the line for a slot at once, and tell their run',
      atOnce: { event: 'placementWaits', tells: 'run', times: 2 },
      instead: 'no slot for half of a batch, its calls apart',
    },
  ],
  [
    'a batch that shares two sandboxes of two places waits until one is given back',
    {
      because: 'four conversations hear that their sandboxes have come up, and tell their run',
      atOnce: { event: 'sandboxNoticed', tells: 'run', times: 4 },
      instead: 'somebody else is in the sandbox that a batch lets go',
    },
  ],
  [
    'a shared sandbox is deleted under three conversations',
    {
      because: 'three conversations tell their sandbox that their agents rest',
      atOnce: { event: 'sandboxNoticed', tells: 'sandbox', times: 3 },
      instead: 'a shared sandbox is deleted under three conversations, one of them at work',
    },
  ],
  [
    'cancelled at work',
    {
      because: 'two agents are stopped at once, and what ends first is collected first',
      atOnce: { event: 'agentReported', tells: 'run', times: 2 },
      instead: 'cancelled at work, its calls apart',
    },
  ],
  [
    'more at once, in the middle',
    {
      because: 'three items end at once, and the number of an order says which was first',
      atOnce: { event: 'agentReported', tells: 'run', times: 3 },
      instead: 'more at once, in the middle, its calls apart',
    },
  ],
]);

/**
 * Scripts in which a clock ends the work, with what a millisecond of it costs, in nano-USD: an agent works a few real
 * milliseconds longer, and is billed for them.
 */
export const BILLED_BY_TIME: ReadonlyMap<string, number> = new Map([
  ['an item works too long', 1_320],
  ['items have ends of their own', 1_320],
]);

export function playedOnTemporal<One extends Script>(
  scripts: readonly One[],
): { readonly played: readonly One[]; readonly leftOut: readonly One[] } {
  return {
    played: scripts.filter(({ name }) => !COINCIDENCES.has(name)),
    leftOut: scripts.filter(({ name }) => COINCIDENCES.has(name)),
  };
}
