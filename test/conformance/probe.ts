/**
 * A probe: a script in which one more event reaches an entity the moment it enters a phase.
 * Owns when it fires, the same in both drivers; what it delivers is made of the state that it finds.
 */
import type { MachineEvent } from '../../core/machine/command.ts';
import type { EntityAddress, MachineName } from '../../core/ids.ts';
import type { Script } from '../../simulator/script.ts';

export interface Probe {
  readonly machine: MachineName;
  /** True for the states in which it fires; it does when an entity enters them, once. */
  readonly when: (state: unknown) => boolean;
  /** One after the other, each made of the state that the one before left; null has nothing to be about and is left out. */
  readonly events: readonly ProbeEvent[];
}

export type ProbeEvent = (state: unknown, now: number) => MachineEvent | null;

export interface ProbedScript extends Script {
  readonly probe?: Probe;
}

interface Seen {
  readonly at: number;
  readonly address: EntityAddress;
  readonly before: unknown;
  readonly after: unknown;
}

/** Sees every step; fires at most once, through `put`, which runs it after everything else of that instant. */
export class ProbeTrigger {
  private readonly probe: Probe | null;
  private readonly put: (fire: () => void) => void;
  private readonly deliver: (to: EntityAddress, event: MachineEvent) => void;
  private target: EntityAddress | null = null;
  private latest: unknown = null;

  constructor(
    script: ProbedScript,
    put: (fire: () => void) => void,
    deliver: (to: EntityAddress, event: MachineEvent) => void,
  ) {
    this.probe = script.probe ?? null;
    this.put = put;
    this.deliver = deliver;
  }

  see({ at, address, before, after }: Seen): void {
    const { probe } = this;
    if (probe === null || probe.machine !== address.machine) return;
    if (this.target !== null) {
      if (this.target.id === address.id) this.latest = after;
      return;
    }
    if (!probe.when(after) || (before !== null && probe.when(before))) return;
    this.target = address;
    this.latest = after;
    this.fire(probe.events, address, at);
  }

  /** Each is put on the clock once the one before was delivered: then the state is the one it left. */
  private fire([event, ...rest]: readonly ProbeEvent[], address: EntityAddress, at: number): void {
    if (event === undefined) return;
    this.put(() => {
      const made = event(this.latest, at);
      if (made !== null) this.deliver(address, made);
      this.fire(rest, address, at);
    });
  }
}
