/**
 * The trace: one JSON line per step, each with the running hash of everything up to it.
 * Owns the form of a line and the hash. The hash is a small FNV in two lanes and no SHA-256: it has to notice that two
 * runs differ, not to resist an author who wants them to look equal, and it must cost nothing beside a step.
 */
import type { Command } from '../core/machine/command.ts';
import { addressKey } from '../core/ids.ts';
import type { SimulationStep } from './simulation-options.ts';
import { changedView, viewOf } from './view.ts';

export class Trace {
  lines = 0;
  private low = 0x811c9dc5;
  private high = 0x01234567;
  private readonly write: ((line: string) => void) | null;

  /** `write` gets every line without its line break; null keeps only the hash. */
  constructor(write: ((line: string) => void) | null) {
    this.write = write;
  }

  /** Sixteen hex digits over every line so far. */
  get hash(): string {
    return hex(this.high) + hex(this.low);
  }

  add(step: SimulationStep): void {
    const { address, before, after } = step;
    const body = JSON.stringify({
      at: step.at,
      seq: step.sequence,
      entity: addressKey(address),
      event: step.event.type,
      view: changedView(viewOf(address.machine, before), viewOf(address.machine, after)),
      orders: step.commands.map(orderName),
    });
    // Fields would be written once for every character: this is the hottest loop of a simulation.
    let { low, high } = this;
    for (let at = 0; at < body.length; at += 1) {
      const code = body.charCodeAt(at);
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ (code + (low >>> 27)), 0x85ebca6b);
    }
    this.low = low;
    this.high = high;
    this.lines += 1;
    this.write?.(`${body.slice(0, -1)},"hash":"${this.hash}"}`);
  }
}

function hex(lane: number): string {
  return (lane >>> 0).toString(16).padStart(8, '0');
}

/** The name of an order: what it does and to which entity; counts in ids are the same in every driver. */
export function orderName(command: Command): string {
  switch (command.type) {
    case 'send':
      return `tell ${addressKey(command.to)} ${command.event.type}`;
    case 'cancelCommand':
      return `cancel ${command.commandId}`;
    case 'project':
      return 'project';
    default:
      return `${command.type} ${command.id}`;
  }
}
