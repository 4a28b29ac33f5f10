/**
 * The machines together on a virtual clock: messages out of order, twice, late.
 * Owns the queue and the delivery; what commands do is in model-fakes.ts, what must hold in model.test.ts.
 */
import type { Command, MachineEvent } from '../../core/machine/command.ts';
import { conversationMachine } from '../../core/conversation/machine.ts';
import { addressKey, type EntityAddress } from '../../core/ids.ts';
import type { Machine } from '../../core/machine/machine.ts';
import { runMachine } from '../../core/run/machine.ts';
import { shardMachine } from '../../core/shard/machine.ts';
import { sandboxMachine } from '../../core/sandbox/machine.ts';
import { T0 } from './life.ts';

type AnyMachine = Machine<unknown, MachineEvent, Command>;
/** These have no answer, and no machine waits for one. */
const UNANSWERED: ReadonlySet<string> = new Set(['project', 'record', 'offerRoom']);

const MACHINES = {
  sandbox: sandboxMachine as unknown as AnyMachine,
  conversation: conversationMachine as unknown as AnyMachine,
  run: runMachine as unknown as AnyMachine,
  shard: shardMachine as unknown as AnyMachine,
};

/** More steps than any script of this size needs: a script that takes more never comes to rest. */
const STEPS_MAX = 30_000;

export interface Faults {
  /** Longest delay of a message between machines. */
  readonly delayMs: number;
  /** Share of messages that come twice. */
  readonly duplicates: number;
  /** Share of activities that fail. */
  readonly failures: number;
}

interface Due {
  readonly at: number;
  readonly order: number;
  readonly run: () => void;
}

export class ModelWorld {
  now = T0;
  steps = 0;
  readonly entities = new Map<string, { readonly address: EntityAddress; readonly state: unknown }>();
  readonly cancelled = new Set<string>();
  readonly out = new Map<string, Command>();
  readonly faults: Faults;
  onCommand: (command: Command, sender: EntityAddress) => void = () => undefined;
  onStep: (address: EntityAddress, before: unknown, after: unknown) => void = () => undefined;
  private readonly queue: Due[] = [];
  private order = 0;
  private seed: number;

  constructor(seed: number, faults: Faults) {
    this.seed = seed >>> 0;
    this.faults = faults;
  }

  /** From 0 to just below 1, the same for the same seed (mulberry32). */
  random(): number {
    this.seed = (this.seed + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.seed ^ (this.seed >>> 15), 1 | this.seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  fails(): boolean {
    return this.random() < this.faults.failures;
  }

  after(delayMs: number, run: () => void): void {
    this.queue.push({ at: this.now + Math.max(0, Math.ceil(delayMs)), order: (this.order += 1), run });
  }

  /** Delivers after a random delay, perhaps twice. */
  post(to: EntityAddress, event: MachineEvent): void {
    const copies = this.random() < this.faults.duplicates ? 2 : 1;
    for (let copy = 0; copy < copies; copy += 1) {
      this.after(this.random() * this.faults.delayMs, () => this.deliver(to, event));
    }
  }

  /** The answer of a command; dropped when it was cancelled, like a driver does. */
  answer(to: EntityAddress, commandId: string, event: MachineEvent): void {
    if (this.cancelled.has(commandId)) return;
    this.out.delete(commandId);
    this.post(to, event);
  }

  deliver(to: EntityAddress, event: MachineEvent): void {
    this.steps += 1;
    if (this.steps > STEPS_MAX)
      throw new Error(`Cannot come to rest: ${addressKey(to)} still gets ${event.type}`);
    const machine = MACHINES[to.machine];
    const before = this.entities.get(addressKey(to))?.state ?? null;
    const { state, commands } = machine.step(before, event, this.now);
    this.entities.set(addressKey(to), { address: to, state });
    if (state === before && commands.length === 0) return;
    this.onStep(to, before, state);
    const at = machine.deadline(state);
    if (at !== null) this.arm(to, at);
    for (const command of commands) this.take(to, command);
  }

  private take(sender: EntityAddress, command: Command): void {
    if (command.type === 'send') return this.post(command.to, command.event as MachineEvent);
    if (command.type === 'cancelCommand') {
      this.cancelled.add(command.commandId);
      this.out.delete(command.commandId);
      return;
    }
    if (!UNANSWERED.has(command.type)) this.out.set(command.id, command);
    this.onCommand(command, sender);
  }

  /** A deadline is sent only if it is still the machine's own when its time has come. */
  private arm(to: EntityAddress, at: number): void {
    this.after(at - this.now, () => {
      const entity = this.entities.get(addressKey(to));
      const due = entity === undefined ? null : MACHINES[to.machine].deadline(entity.state);
      if (due !== null && due <= this.now) this.deliver(to, { type: 'deadline' });
    });
  }

  /** Lets everything happen that is due until then. */
  runUntil(end: number): void {
    for (;;) {
      this.queue.sort((a, b) => a.at - b.at || a.order - b.order);
      const next = this.queue[0];
      if (next === undefined || next.at > end) break;
      this.queue.shift();
      this.now = Math.max(this.now, next.at);
      next.run();
    }
    this.now = end;
  }
}
