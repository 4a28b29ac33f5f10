/**
 * What checkers see of hosts: what is there, what was placed, and what each worker did.
 * Owns the shapes; reading never changes anything.
 */
import type { ActivityCommandType } from '../../core/machine/command.ts';
import type { HostLabels } from '../../core/placement/choose-host.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { HostsSetting } from './host-setting.ts';

/** One host as it stands. */
export interface HostView {
  readonly name: string;
  readonly capacity: number;
  readonly labels: HostLabels;
  readonly draining: boolean;
  /** Slots that placement believes to be taken on it. */
  readonly up: number;
  /** Highest fence of a lease that was given for it, or ended. */
  readonly fence: number;
  /** Epoch milliseconds at which its lease ends; null while it is renewed. */
  readonly leaseUntil: number | null;
}

/** A slot that was taken on a host, and what all of them were like right before. */
export interface HostPlacement {
  readonly at: number;
  readonly sandboxId: SandboxId;
  readonly host: string;
  /** Where the sandbox lived before; null for a new one. */
  readonly homeBefore: string | null;
  readonly seen: readonly HostView[];
}

/** No host gave a slot, and what all of them were like. */
export type HostRefusal = Omit<HostPlacement, 'host'>;

/** A worker does something of a command that reaches into a sandbox. */
export interface HostAct {
  readonly at: number;
  readonly sandboxId: SandboxId;
  readonly command: ActivityCommandType;
  /** Whose worker it is; null: of no host in particular. */
  readonly host: string | null;
  /** Of the lease that the worker believes to hold. */
  readonly fence: number;
  /** The fence that counts: that of the store. */
  readonly storeFence: number;
  /** It works on the disk on which the sandbox lies. */
  readonly hasDisk: boolean;
  /** Nothing from outside reaches it, so it cannot know that it was given up. */
  readonly isCutOff: boolean;
}

/** A host that was given up. */
export interface HostGivenUp {
  readonly at: number;
  readonly host: string;
  /** Epoch milliseconds of its last sign of life. */
  readonly heardUntil: number;
}

export interface HostFacts {
  readonly setting: HostsSetting;
  all(): Iterable<HostView>;
  /** Where a sandbox lives, from its reservation on; null: nowhere. */
  homeOf(sandboxId: SandboxId): string | null;
  /** In the order in which they happened; each list only grows. */
  readonly placements: readonly HostPlacement[];
  readonly refusals: readonly HostRefusal[];
  readonly acts: readonly HostAct[];
  readonly givenUp: readonly HostGivenUp[];
  /** Something struck a host: its reports may be late. */
  readonly isDisturbed: boolean;
}
