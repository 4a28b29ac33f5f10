/**
 * Names opportunities: the same place in a run has the same name, whatever struck before it elsewhere.
 * Owns the counts behind the names, and that what a fault brings later does not outlive the faults; the injector
 * decides.
 */
import { addressKey, type EntityAddress, type MachineName } from '../../core/ids.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import type { FaultName } from './catalogue.ts';
import type { Injector, Planned } from './injector.ts';

export class Opportunities {
  private readonly counts = new Map<string, number>();
  private readonly port: ModelPort;
  private readonly injector: Injector;

  constructor(port: ModelPort, injector: Injector) {
    this.port = port;
    this.injector = injector;
  }

  /** False: none of these ever strikes, and callers need not check. */
  any(...faults: readonly FaultName[]): boolean {
    return faults.some((fault) => this.injector.mayStrike(fault));
  }

  /** Null: the fault does not strike there. */
  strikes(fault: FaultName, where: string, about: EntityAddress | null): RandomStream | null {
    if (!this.injector.mayStrike(fault)) return null;
    return this.injector.strikes(fault, { where, about, at: this.port.now() });
  }

  /** The same for a fault that shows some time after its opportunity. */
  plans(fault: FaultName, where: string, about: EntityAddress): Planned | null {
    return this.injector.plans(fault, { where, about, at: this.port.now() });
  }

  /** What a fault brings so many milliseconds later: nothing, if everything has healed by then. */
  after(ms: number, run: () => void): void {
    this.port.later(null, this.port.now() + ms, () => {
      if (!this.injector.isHealed) run();
    });
  }

  /** The name of what happens to an entity the n-th time. */
  name(what: string, { machine, id }: EntityAddress): string {
    const key = `${what}/${addressKey({ machine, id })}`;
    return `${key}/${this.nth(key)}`;
  }

  /** How often it has come to that, this time counted. */
  nth(what: string): number {
    const count = (this.counts.get(what) ?? 0) + 1;
    this.counts.set(what, count);
    return count;
  }
}

/** Whose command it is: its id is the sender's address with a count. */
export function senderOf(commandId: string): EntityAddress {
  const slash = commandId.indexOf('/');
  const id = commandId.slice(slash + 1, commandId.lastIndexOf('#'));
  return { machine: commandId.slice(0, slash) as MachineName, id };
}
