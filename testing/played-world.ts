/**
 * What the handles of a world need of it.
 * Owns the interface, so that a handle and its world do not import each other.
 */
import type { MachineEvent } from '../core/machine/command.ts';
import type { EntityAddress } from '../core/ids.ts';
import type { World as ModelWorld } from '../simulator/models/world.ts';
import type { PastEvent } from '../simulator/scenario/last-events.ts';

export interface PlayedWorld {
  /** The models below. */
  readonly model: ModelWorld;
  /** Epoch milliseconds at which the world began. */
  readonly startAt: number;
  /** Epoch milliseconds of the virtual clock. */
  readonly now: number;
  /** Since the world began, as in `12h30m`. */
  readonly elapsed: string;
  /** Null when nothing ever reached it. */
  stateOf(address: EntityAddress): unknown;
  /** An event from outside, now. */
  deliver(to: EntityAddress, event: MachineEvent): void;
  /** An id for a request that was not made yet. */
  newRequestId(): string;
  /** The last events of these entities together, oldest first. */
  lastEvents(entities: readonly EntityAddress[]): readonly PastEvent[];
}
