/**
 * What workers of hosts do, as it is kept for checkers.
 * Owns the list; must not influence what is done.
 */
import type { ActivityCommand } from '../../core/machine/command.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { HostAct } from './host-facts.ts';
import type { HostTable } from './host-table.ts';

/** One process at work for a host, with the lease that it believes to hold. */
export interface HostWorker {
  readonly host: string;
  readonly fence: number;
  reach: 'up' | 'cut_off' | 'dead';
}

/** A worker that carries out a command. */
export interface HostExecution {
  readonly command: ActivityCommand;
  readonly sandboxId: SandboxId;
  readonly worker: HostWorker;
}

export class HostActs {
  /** False: nothing is kept. */
  keeps = true;
  readonly all: HostAct[] = [];
  private readonly table: HostTable;
  private readonly now: () => number;

  constructor(table: HostTable, now: () => number) {
    this.table = table;
    this.now = now;
  }

  add({ command, sandboxId, worker }: HostExecution): void {
    if (!this.keeps) return;
    const { host, fence, reach } = worker;
    this.all.push({
      at: this.now(),
      sandboxId,
      command: command.type,
      host,
      fence,
      storeFence: this.table.fenceOf(host),
      hasDisk: this.table.hasDisk(sandboxId),
      isCutOff: reach === 'cut_off',
    });
  }

  /** Of what lives on a host, and is carried out by any free worker. */
  addUnbound(command: ActivityCommand): void {
    if (!this.keeps || !('sandboxId' in command) || command.sandboxId === null) return;
    const { type, sandboxId } = command;
    if (this.table.queueOf(sandboxId) === null) return;
    const unbound = { host: null, fence: 0, storeFence: 0, hasDisk: false, isCutOff: false };
    this.all.push({ at: this.now(), sandboxId, command: type, ...unbound });
  }
}
