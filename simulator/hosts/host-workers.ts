/**
 * The workers of hosts: each carries out what reaches into the sandboxes of its host, and no other does (D33).
 * Owns which worker is there, what waits for it, and what becomes of what it reports; must not decide what a lost
 * sandbox means. It stands between the models and their driver: a model waits and answers through it.
 */
import type { ActivityCommand, MachineEvent } from '../../core/machine/command.ts';
import type { EntityAddress, SandboxId } from '../../core/ids.ts';
import { isWatch, touchesSandbox } from '../../core/machine/resource.ts';
import type { ModelPort } from '../model-port.ts';
import { HostActs, type HostExecution, type HostWorker } from './host-acts.ts';
import type { HostFacts, HostGivenUp } from './host-facts.ts';
import type { HostsSetting } from './host-setting.ts';
import { HostTable } from './host-table.ts';

interface Host {
  worker: HostWorker;
  /** Its commands take so many times longer. */
  slowness: number;
  /** What it would report if it were reachable. */
  held: (() => void)[];
  /** By sandbox and id: put into its queue, and not answered. The next worker begins them again. */
  readonly open: Map<SandboxId, Map<string, ActivityCommand>>;
}

/** What happens to a sandbox when its host goes. */
interface SandboxesOfHosts {
  /** Its processes and files are gone with the machine. */
  vanish(id: SandboxId): void;
  /** A host that is back removes sandboxes that are not needed any more. */
  remove(id: SandboxId): void;
  /** The record says `MISSING`. */
  isMissing(id: SandboxId): boolean;
}

interface Parts {
  readonly port: ModelPort;
  readonly sandboxes: SandboxesOfHosts;
  /** Begins a command again: the one before did not come to its end. */
  readonly begin: (command: ActivityCommand) => void;
}

export class HostWorkers implements ModelPort, HostFacts {
  readonly table: HostTable;
  readonly actions: HostActs;
  readonly givenUp: HostGivenUp[] = [];
  isDisturbed = false;
  private readonly hosts = new Map<string, Host>();
  private readonly executions = new Map<string, HostExecution>();
  /** Sandboxes that were given up while their host was cut off: they may live on unseen. */
  private readonly beyond = new Set<SandboxId>();
  private readonly parts: Parts;

  constructor(setting: HostsSetting, parts: Parts) {
    this.parts = parts;
    this.table = new HostTable(setting, () => parts.port.now());
    this.actions = new HostActs(this.table, () => parts.port.now());
    for (const { name } of setting.hosts) {
      const fence = this.table.take(name, { sameDirectory: true }) ?? 0;
      const worker: HostWorker = { host: name, fence, reach: 'up' };
      this.hosts.set(name, { worker, slowness: 1, held: [], open: new Map() });
    }
  }

  get setting() {
    return this.table.setting;
  }
  all() {
    return this.table.all();
  }
  homeOf(id: SandboxId): string | null {
    return this.table.homeOf(id);
  }
  get acts() {
    return this.actions.all;
  }
  get placements() {
    return this.table.placements;
  }
  get refusals() {
    return this.table.refusals;
  }

  /** Its state cannot be seen: its host was cut off when it was given up, and is not back. */
  isBeyond(id: SandboxId): boolean {
    return this.beyond.has(id);
  }
  get areBeyond(): boolean {
    return this.beyond.size > 0;
  }

  /** False: the worker that alone can do it is not there, and the command waits in its queue. */
  admits(command: ActivityCommand): boolean {
    const queue = this.queueOf(command);
    if (queue === null) {
      this.actions.addUnbound(command);
      return true;
    }
    const host = this.host(queue.host);
    const open = host.open.get(queue.sandboxId) ?? new Map<string, ActivityCommand>();
    host.open.set(queue.sandboxId, open.set(command.id, command));
    if (host.worker.reach !== 'up') return false;
    this.executions.set(command.id, { command, sandboxId: queue.sandboxId, worker: host.worker });
    return true;
  }

  now(): number {
    return this.parts.port.now();
  }

  later(commandId: string | null, at: number, run: () => void): void {
    const one = commandId === null ? undefined : this.executions.get(commandId);
    const { port } = this.parts;
    if (one === undefined) return port.later(commandId, at, run);
    port.later(commandId, this.slowed(one, at), () => this.go(one, run));
  }

  answer(command: ActivityCommand, event: MachineEvent | null): void {
    const one = this.executions.get(command.id);
    if (one === undefined) return this.parts.port.answer(command, event);
    const { worker } = one;
    // A dead worker reports nothing; the next worker carries it out.
    if (worker.reach === 'dead') return;
    const host = this.host(worker.host);
    if (worker.reach === 'cut_off') return void host.held.push(() => this.answer(command, event));
    this.executions.delete(command.id);
    host.open.get(one.sandboxId)?.delete(command.id);
    this.parts.port.answer(command, event);
  }

  /** It is `MISSING`: of what was ordered for it before, nothing is awaited any more. */
  ended(id: SandboxId): void {
    const home = this.table.homeOf(id);
    if (home === null) return;
    this.table.ended(id);
    const { open } = this.host(home);
    for (const commandId of open.get(id)?.keys() ?? []) this.executions.delete(commandId);
    open.delete(id);
  }

  deliver(to: EntityAddress, event: MachineEvent): void {
    this.parts.port.deliver(to, event);
  }

  /** The machine is gone, with its disk; once its lease is over it is given up. */
  lose(name: string): void {
    const host = this.host(name);
    if (host.worker.reach === 'dead') return;
    this.isDisturbed = true;
    host.worker.reach = 'dead';
    host.held = [];
    for (const id of this.table.livingOn(name)) this.parts.sandboxes.vanish(id);
    this.falls(name);
  }

  /** It works on, and nothing goes in or out. */
  cutOff(name: string): void {
    const { worker } = this.host(name);
    if (worker.reach !== 'up') return;
    this.isDisturbed = true;
    worker.reach = 'cut_off';
    this.falls(name);
  }

  /** It is reached again; or another machine, with an empty disk, takes the name of one that was lost. */
  restore(name: string): void {
    const { worker } = this.host(name);
    if (worker.reach === 'cut_off') this.reconnect(name, worker);
    else if (worker.reach === 'dead') this.replace(name);
  }

  drain(name: string, draining: boolean): void {
    this.table.drain(name, draining);
  }

  slow(name: string, times: number): void {
    this.isDisturbed ||= times > 1;
    this.host(name).slowness = times;
  }

  /** Every fault of a host ends. */
  heal(): void {
    for (const [name, host] of this.hosts) {
      host.slowness = 1;
      this.restore(name);
    }
  }

  private falls(name: string): void {
    const until = this.table.falls(name);
    this.parts.port.later(null, until, () => this.giveUp(name));
  }

  /** The other workers find a lease that has run out: its sandboxes are lost, also what was reserved meanwhile. */
  private giveUp(name: string): void {
    const { worker } = this.host(name);
    if (worker.reach === 'up') return;
    const heardUntil = this.table.heardUntil(name);
    const isFirst = this.table.fenceOf(name) === worker.fence;
    if (isFirst && !this.table.giveUp(name)) return;
    if (isFirst) this.givenUp.push({ at: this.now(), host: name, heardUntil });
    for (const id of [...this.table.livingOn(name)]) {
      if (worker.reach === 'cut_off') this.beyond.add(id);
      this.parts.port.deliver({ machine: 'sandbox', id }, { type: 'hostLost' });
    }
    this.lookAgain(name);
  }

  /** A sandbox was placed there just before, and its machine has not reported yet. */
  private lookAgain(name: string): void {
    const { leaseMs } = this.setting;
    this.parts.port.later(null, this.now() + leaseMs, () => {
      const isEmpty = [...this.table.livingOn(name)].length === 0;
      if (this.host(name).worker.reach !== 'up' && !isEmpty) this.giveUp(name);
    });
  }

  private reconnect(name: string, before: HostWorker): void {
    const host = this.host(name);
    const { held } = host;
    host.held = [];
    if (this.table.renew(name, before.fence)) {
      before.reach = 'up';
      this.inSightAgain(name);
      for (const say of held) this.parts.port.later(null, this.now(), say);
      return this.beginOpen(name);
    }
    // Refused: it ends, starts again with its own disk, and removes what was given up.
    before.reach = 'dead';
    this.appear(name, { sameDirectory: true });
  }

  private replace(name: string): void {
    if (this.appear(name, { sameDirectory: false })) return;
    this.parts.port.later(null, this.now() + this.setting.leaseMs, () => this.restore(name));
  }

  private appear(name: string, claim: { readonly sameDirectory: boolean }): boolean {
    const fence = this.table.take(name, claim);
    if (fence === null) return false;
    this.host(name).worker = { host: name, fence, reach: 'up' };
    for (const id of this.inSightAgain(name))
      if (this.parts.sandboxes.isMissing(id)) this.parts.sandboxes.remove(id);
    this.beginOpen(name);
    return true;
  }

  private inSightAgain(name: string): readonly SandboxId[] {
    const found = [...this.beyond].filter((id) => this.table.homeOf(id) === name);
    for (const id of found) this.beyond.delete(id);
    return found;
  }

  /** What waited in its queue, and what the one before was at. */
  private beginOpen(name: string): void {
    const { open, worker } = this.host(name);
    const at = this.now();
    for (const command of [...open.values()].flatMap((some) => [...some.values()])) {
      if (this.executions.get(command.id)?.worker === worker) continue;
      this.executions.delete(command.id);
      // Only what is still awaited.
      this.parts.port.later(command.id, at, () => this.parts.begin(command));
    }
  }

  private go(one: HostExecution, run: () => void): void {
    const { worker } = one;
    if (worker.reach === 'dead' || this.executions.get(one.command.id) !== one) return;
    this.actions.add(one);
    run();
  }

  private slowed({ command, worker }: HostExecution, at: number): number {
    const { slowness } = this.host(worker.host);
    const now = this.now();
    // A watch waits for something that takes as long as it takes.
    return slowness === 1 || isWatch(command.type) ? at : now + Math.round((at - now) * slowness);
  }

  /** The host whose worker alone can carry it out; null: any worker can. */
  private queueOf(command: ActivityCommand): { readonly host: string; readonly sandboxId: SandboxId } | null {
    if (!touchesSandbox(command.type) || !('sandboxId' in command) || command.sandboxId === null) return null;
    const { sandboxId } = command;
    const host = this.table.queueOf(sandboxId);
    return host === null ? null : { host, sandboxId };
  }

  private host(name: string): Host {
    const host = this.hosts.get(name);
    if (host === undefined) throw new Error(`Cannot find the host "${name}": the policy has none`);
    return host;
  }
}
