/**
 * Whether a host has the slot that is requested, and what becomes of a conversation that gets none (D17, D29, D33).
 * Owns the decision on facts that are loaded, for a store and for the simulation alike; must not take anything.
 */
import type { SandboxId } from '../ids.ts';
import type { HostChoice, HostPin } from './choose-host.ts';
import type { FullSlots } from './line.ts';
import type { PlacementRefusal } from './place.ts';

/** `no_host`: no host that is known will ever do; `position` as of a refusal. */
export type NoSlot =
  FullSlots | { readonly kind: 'no_host'; readonly reason: string; readonly position: number };

/** The slot, or why there is none. */
export type SlotChoice = { readonly kind: 'granted'; readonly host?: string } | NoSlot;

/** The slots of the hosts are checked last: a limit of the user or the installation is named first. */
export function slotOn(choice: HostChoice, position: number): SlotChoice {
  switch (choice.kind) {
    case 'chosen':
      return { kind: 'granted', host: choice.name };
    case 'none':
      return { kind: 'no_host', reason: choice.reason, position };
    case 'full': {
      const { limit, current, waitsFor } = choice;
      return { kind: 'refused', limit, current, position, ...(waitsFor === undefined ? {} : { waitsFor }) };
    }
  }
}

/** The request of a conversation that would have got a new sandbox. */
interface Asked {
  /** Has room as well, and is taken when no slot is free for a new one. */
  readonly otherwise: SandboxId | undefined;
  /** Stands in the line for a slot instead of being refused one. */
  readonly waits: boolean;
  readonly host?: HostPin | undefined;
}

export type WithoutSlot =
  | { readonly kind: 'existing'; readonly sandboxId: SandboxId }
  | { readonly kind: 'refused'; readonly refusal: PlacementRefusal }
  | { readonly kind: 'waits'; readonly slots: Omit<FullSlots, 'kind'> };

/** It shares a sandbox that has room, stands in the line, or is refused. */
export function withoutSlot(none: NoSlot, { otherwise, waits, host }: Asked): WithoutSlot {
  if (otherwise !== undefined) return { kind: 'existing', sandboxId: otherwise };
  if (none.kind === 'refused') {
    const { kind: _kind, ...slots } = none;
    return waits ? { kind: 'waits', slots } : { kind: 'refused', refusal: refusalOf(slots) };
  }
  const { reason, position } = none;
  if (!waits || host === undefined)
    return {
      kind: 'refused',
      refusal: { code: 'placement_failed', reason: `Cannot place the conversation: ${reason}` },
    };
  // A host that is named may begin at any time, and until then the user has to see what is waited for.
  const waitsFor = { said: `a host: ${reason}`, hosts: [] };
  return { kind: 'waits', slots: { limit: 0, current: 0, position, waitsFor } };
}

/** Placed, or refused for good: its place in the line is for the next. */
export function leavesLine({ kind }: { readonly kind: string }): boolean {
  return kind === 'placed' || kind === 'refused';
}

/** It stood in the line and took no slot: what was free for it is free for the next, which must be notified. */
export function passesSlotOn(
  stood: boolean,
  outcome: { readonly kind: string; readonly created?: boolean },
): boolean {
  return stood && !(outcome.kind === 'placed' && outcome.created === true);
}

function refusalOf({ limit, current, waitsFor }: Omit<FullSlots, 'kind'>): PlacementRefusal {
  const why =
    waitsFor === undefined
      ? `${current} sandboxes are up, and the limit is ${limit}`
      : `there is no room on ${waitsFor.said}`;
  const reason = `Cannot place the conversation: ${why}`;
  return { code: 'concurrency_limit_reached', reason, slots: { limit, current } };
}
