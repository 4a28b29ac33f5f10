/**
 * Hosts as a store keeps them: leases with fences, which host drains, and where each sandbox lives.
 * Owns the rows and the comparison of fences, as store/placement/host-store.ts does in SQL; must not know what a worker
 * does, and lets the core choose which host gets a sandbox.
 */
import {
  chooseHost,
  type HostCandidate,
  type HostChoice,
  type HostRequirement,
} from '../../core/placement/choose-host.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { HostPlacement, HostRefusal, HostView } from './host-facts.ts';
import { leaseEndOf, SIMULATED_RUNTIME, type HostSetting, type HostsSetting } from './host-setting.ts';

interface HostRow {
  readonly setting: HostSetting;
  draining: boolean;
  up: number;
  fence: number;
  takenAt: number;
  /** Until when its reports came; null: they still come. */
  heardUntil: number | null;
  /** Counts the disks that it had. */
  disk: number;
}

export class HostTable {
  /** False: placements are not kept. A checker needs them, and with many hosts they are most of the memory. */
  keepsPlacements = true;
  readonly setting: HostsSetting;
  readonly placements: HostPlacement[] = [];
  readonly refusals: HostRefusal[] = [];
  private readonly rows = new Map<string, HostRow>();
  private readonly homes = new Map<SandboxId, string>();
  private readonly living = new Map<string, Set<SandboxId>>();
  private readonly disks = new Map<SandboxId, number>();
  /** The host on which each sandbox holds a slot. */
  private readonly held = new Map<SandboxId, HostRow>();
  private readonly now: () => number;

  constructor(setting: HostsSetting, now: () => number) {
    this.setting = setting;
    this.now = now;
    for (const host of setting.hosts) {
      const { draining = false } = host;
      const lease = { fence: 0, takenAt: now(), heardUntil: null };
      this.rows.set(host.name, { setting: host, draining, up: 0, disk: 1, ...lease });
      this.living.set(host.name, new Set());
    }
  }

  *all(): Iterable<HostView> {
    for (const row of this.rows.values()) yield this.viewOf(row);
  }

  homeOf(id: SandboxId): string | null {
    return this.homes.get(id) ?? null;
  }

  /** The host that is queried about it; null once it is `MISSING`, and where it lives on none. */
  queueOf(id: SandboxId): string | null {
    const home = this.homes.get(id);
    return home !== undefined && this.living.get(home)?.has(id) === true ? home : null;
  }

  /** Its files lie on the disk that its host has now. */
  hasDisk(id: SandboxId): boolean {
    return this.disks.get(id) === this.rows.get(this.homes.get(id) ?? '')?.disk;
  }

  /** Of those that are not `MISSING`, and of what is only reserved. */
  livingOn(name: string): Iterable<SandboxId> {
    return this.living.get(name) ?? [];
  }

  /** It is `MISSING`. */
  ended(id: SandboxId): void {
    const home = this.homes.get(id);
    if (home !== undefined) this.living.get(home)?.delete(id);
  }

  /** The next lease of a host: an earlier holder has none any more. Null: something of the last one lives. */
  take(name: string, { sameDirectory }: { readonly sameDirectory: boolean }): number | null {
    const row = this.row(name);
    if (!sameDirectory && (this.isLive(row) || this.living.get(name)?.size !== 0)) return null;
    row.fence += 1;
    if (!sameDirectory) row.disk += 1;
    row.takenAt = this.now();
    row.heardUntil = null;
    return row.fence;
  }

  /** False: this fence is over. */
  renew(name: string, fence: number): boolean {
    const row = this.row(name);
    if (row.fence !== fence) return false;
    row.heardUntil = null;
    row.takenAt = this.now();
    return true;
  }

  /** Nothing is received from it from now on; the instant from which it may be given up. */
  falls(name: string): number {
    const row = this.row(name);
    row.heardUntil ??= this.now();
    return this.givenUpFrom(row) ?? this.now();
  }

  /** Ends a lease that was over for long enough, so that no renewal brings it back; false before that. */
  giveUp(name: string): boolean {
    const row = this.row(name);
    const from = this.givenUpFrom(row);
    if (from === null || from > this.now()) return false;
    row.fence += 1;
    return true;
  }

  drain(name: string, draining: boolean): void {
    this.row(name).draining = draining;
  }

  fenceOf(name: string): number {
    return this.row(name).fence;
  }

  heardUntil(name: string): number {
    return this.row(name).heardUntil ?? this.now();
  }

  /** A slot of a host for a sandbox: of its own one if it has one, else of the one that the core chooses. */
  takeSlot(id: SandboxId): HostChoice {
    const home = this.homes.get(id) ?? null;
    const choice = this.choose(home);
    if (choice.kind !== 'chosen') {
      this.noteRefusal(id, home);
      return choice;
    }
    const row = this.row(choice.name);
    this.note(id, choice.name, home);
    row.up += 1;
    this.held.set(id, row);
    if (home === null) this.bind(id, choice.name);
    return choice;
  }

  giveBack(id: SandboxId): void {
    const row = this.held.get(id);
    if (row === undefined) return;
    this.held.delete(id);
    row.up -= 1;
  }

  /** Whether a sandbox could have a slot now; null: a new one. */
  hasRoom(id: SandboxId | null): boolean {
    return this.choose(id === null ? null : (this.homes.get(id) ?? null)).kind === 'chosen';
  }

  private note(sandboxId: SandboxId, host: string, homeBefore: string | null): void {
    if (!this.keepsPlacements) return;
    this.placements.push({ at: this.now(), sandboxId, host, homeBefore, seen: [...this.all()] });
  }

  private noteRefusal(sandboxId: SandboxId, homeBefore: string | null): void {
    if (!this.keepsPlacements) return;
    this.refusals.push({ at: this.now(), sandboxId, homeBefore, seen: [...this.all()] });
  }

  private bind(id: SandboxId, name: string): void {
    this.homes.set(id, name);
    this.disks.set(id, this.row(name).disk);
    this.living.get(name)?.add(id);
  }

  private choose(home: string | null): HostChoice {
    return chooseHost(
      this.requirement(home),
      [...this.rows.values()].map((row) => this.candidateOf(row)),
    );
  }

  /** What lives on a host already goes nowhere else, also while that one drains. */
  private requirement(home: string | null): HostRequirement {
    const { strategy, pin } = this.setting;
    if (home !== null)
      return { runtime: SIMULATED_RUNTIME, strategy: 'spread', name: home, alsoDraining: true };
    return { runtime: SIMULATED_RUNTIME, strategy, ...pin };
  }

  private candidateOf(row: HostRow): HostCandidate {
    const { name, capacity, labels = {} } = row.setting;
    const { up, draining } = row;
    return { name, runtime: SIMULATED_RUNTIME, capacity, up, labels, isLive: this.isLive(row), draining };
  }

  private viewOf(row: HostRow): HostView {
    const { name, capacity, labels = {} } = row.setting;
    const { up, draining, fence } = row;
    return { name, capacity, labels, draining, up, fence, leaseUntil: this.endOf(row) };
  }

  private isLive(row: HostRow): boolean {
    const end = this.endOf(row);
    return end === null || end > this.now();
  }

  private endOf({ takenAt, heardUntil }: HostRow): number | null {
    return heardUntil === null ? null : leaseEndOf(this.setting.leaseMs, takenAt, heardUntil);
  }

  private givenUpFrom(row: HostRow): number | null {
    const end = this.endOf(row);
    return end === null ? null : end + (this.setting.silentMs ?? 0);
  }

  private row(name: string): HostRow {
    const row = this.rows.get(name);
    if (row === undefined) throw new Error(`Cannot find the host "${name}": the policy has none`);
    return row;
  }
}
