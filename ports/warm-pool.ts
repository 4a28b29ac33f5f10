/**
 * Sandboxes that are booted before they are asked for, and have no owner yet.
 * Owns the interface; who claims one is decided in the transaction that places (ports/placement-store.ts).
 */
import type { SandboxId } from '../core/ids.ts';
import type { WarmSandbox } from '../core/placement/warm-pool.ts';
import type { CapacityLimits, SlotOutcome } from './placement-store.ts';

/** Which of the pool may be claimed. */
export interface WarmUse {
  readonly spec: string;
  /** Epoch milliseconds: one that was up then already is too old. */
  readonly bootedAfter: number;
  /** Only those on this host, while it hands anything out; absent: any. */
  readonly host?: string;
}

/** How many there are at this moment. */
export interface WarmFigures {
  readonly booting: number;
  readonly ready: number;
  readonly leaving: number;
}

/** Warm sandboxes, from before their boot until they are claimed. */
export interface WarmPool {
  /** Those without an owner, the oldest first; with `host` those on that one. */
  held(host?: string): Promise<readonly WarmSandbox[]>;
  /** Those that may be claimed, the oldest first. */
  usable(use: WarmUse): Promise<readonly WarmSandbox[]>;
  /** Writes down a boot before it begins, with a slot of the installation (D17); no user's limit counts. Idempotent by id. */
  reserve(request: {
    readonly sandboxId: SandboxId;
    readonly spec: string;
    readonly limits: Pick<CapacityLimits, 'installationMax' | 'hosts'>;
    /** Where it is booted; absent: bound to no host. */
    readonly host?: string | undefined;
    readonly now: number;
  }): Promise<SlotOutcome>;
  /** It answers since `now`. False when it is not booting any more: given up meanwhile. */
  ready(sandboxId: SandboxId, now: number): Promise<boolean>;
  /** It cannot be claimed from now on. False when it was, or it was given up before. */
  giveUp(sandboxId: SandboxId): Promise<boolean>;
  /** What was given up is gone from the runtime: its record and its slot go. Idempotent. */
  removed(sandboxId: SandboxId): Promise<void>;
  figures(): Promise<WarmFigures>;
}
