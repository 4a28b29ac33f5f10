/**
 * Hosts as a policy names them: what there is of each, and how they are filled.
 * Owns the shapes; which host gets a sandbox is decided by core/placement/choose-host.ts (D33).
 */
import type { HostLabels, HostPin, HostStrategy } from '../../core/placement/choose-host.ts';

export interface HostSetting {
  /** Unique. */
  readonly name: string;
  /** Sandboxes with the runtime up, at most; at least 1. */
  readonly capacity: number;
  /** Absent: none. */
  readonly labels?: HostLabels;
  /** True: it drains from the beginning. */
  readonly draining?: boolean;
}

/** The hosts of a world, and how long one may be silent. */
export interface HostsSetting {
  readonly strategy: HostStrategy;
  /** Milliseconds that a host may be silent and still gets sandboxes; it renews six times in that. */
  readonly leaseMs: number;
  /** Milliseconds after the end of its lease until the others give it up; absent: at once. */
  readonly silentMs?: number;
  readonly hosts: readonly HostSetting[];
  /** What every new sandbox asks of its host; absent: nothing. */
  readonly pin?: HostPin;
}

/** There is one kind of runtime in a simulated world. */
export const SIMULATED_RUNTIME = 'simulated';
/** Renewals in the time that a lease runs. */
const RENEWALS = 6;

/** Epoch milliseconds at which a lease ends whose holder took it at `takenAt` and was heard until `heardUntil`. */
export function leaseEndOf(leaseMs: number, takenAt: number, heardUntil: number): number {
  const everyMs = leaseMs / RENEWALS;
  return Math.ceil(takenAt + Math.floor((heardUntil - takenAt) / everyMs) * everyMs + leaseMs);
}
