/**
 * The runtime: which incarnations are up, which may still come up, and what it answers when it is queried.
 * Owns live objects, archives and the fence of ports/sandbox-runtime.ts; must not decide what a sandbox's status is.
 */
import { isActivity, type Contact } from '../../core/sandbox/activity.ts';
import type { SandboxId } from '../../core/ids.ts';
import { MINUTE_MS } from '../../core/time.ts';
import type { ModelPort } from '../model-port.ts';

/** Between two sweeps; only one sighting per sweep counts, however often a list shows the object. */
const SWEEP_MS = MINUTE_MS;
const SIGHTINGS_MIN = 2;

/** How often a list shows an object: left out, once, or twice. */
type Listing = (id: SandboxId, sweep: number) => 0 | 1 | 2;

/**
 * Runtime objects that stand beside the incarnations: left by a start that failed, or started from outside.
 * Owns them and the sweep that removes them. The sweep is an assumption on runtimes, not a rule of core/: a runtime
 * removes what it finds under our label and never started for us, once it saw it in two sweeps in a row.
 */
class ForeignObjects {
  /** What a list shows; a fault may show less or more. */
  listing: Listing = () => 1;
  /** Sweeps in a row that saw the object. */
  private readonly seen = new Map<SandboxId, number>();
  private readonly port: ModelPort;
  private sweeps = 0;
  private isArmed = false;

  constructor(port: ModelPort) {
    this.port = port;
  }

  has(id: SandboxId): boolean {
    return this.seen.has(id);
  }

  ids(): Iterable<SandboxId> {
    return this.seen.keys();
  }

  add(id: SandboxId): void {
    this.seen.set(id, 0);
    this.arm();
  }

  remove(id: SandboxId): void {
    this.seen.delete(id);
  }

  private arm(): void {
    if (this.isArmed) return;
    this.isArmed = true;
    this.port.later(null, this.port.now() + SWEEP_MS, () => this.sweep());
  }

  private sweep(): void {
    this.isArmed = false;
    this.sweeps += 1;
    for (const [id, before] of this.seen) {
      const sightings = this.listing(id, this.sweeps) === 0 ? 0 : before + 1;
      if (sightings >= SIGHTINGS_MIN) this.seen.delete(id);
      else this.seen.set(id, sightings);
    }
    if (this.seen.size > 0) this.arm();
  }
}

export interface Incarnation {
  readonly sandboxId: SandboxId;
  readonly generation: number;
}

/** Notified of incarnations that came up or were stopped. */
export interface Incarnations {
  started(incarnation: Incarnation): void;
  stopped(incarnation: Incarnation): void;
}

/** What the runtime answers about a sandbox that it does not have any more. */
export type Loss = 'crashed' | 'evicted' | 'gone' | 'unknown';

/** `again`: it was up already. `stale`: a newer or ended incarnation. `gone`: its storage was removed. */
type StartOutcome = 'up' | 'again' | 'stale' | 'gone';

/** Highest generation that was started, that ended for good (D14), and whose Agent Server answered last. */
interface Fence {
  started: number;
  ended: number;
  ready: number;
}

export class RuntimeModel {
  readonly live = new Map<SandboxId, Set<number>>();
  readonly archived = new Set<SandboxId>();
  /** When something that counts last reached a sandbox (D9). */
  readonly touched = new Map<SandboxId, number>();
  readonly foreign: ForeignObjects;
  /** Sandboxes that were frozen from outside: there, and silent. */
  readonly frozen = new Set<SandboxId>();
  /** Dead processes whose number belongs to another one: taken for alive. */
  readonly mistaken = new Set<SandboxId>();
  /** The daemon does not answer: no sandbox's state can be read. */
  isAway = false;
  private readonly removed = new Set<SandboxId>();
  private readonly whys = new Map<SandboxId, string>();
  private readonly lost = new Map<SandboxId, Loss>();
  private readonly fences = new Map<SandboxId, Fence>();
  private readonly port: ModelPort;
  private readonly changed: (id: SandboxId) => void;

  /** `changed` is called when a watch has something to see. */
  constructor(port: ModelPort, changed: (id: SandboxId) => void) {
    this.port = port;
    this.changed = changed;
    this.foreign = new ForeignObjects(port);
  }

  /** Idempotent by generation; an older incarnation that is still up, or an ownerless object, is stopped first. */
  up(sandboxId: SandboxId, generation: number): StartOutcome {
    const fence = this.fenceOf(sandboxId);
    if (generation <= fence.ended || generation < fence.started) return 'stale';
    if (this.removed.has(sandboxId)) return 'gone';
    if (this.isUp(sandboxId, generation)) return 'again';
    fence.started = generation;
    this.foreign.remove(sandboxId);
    this.live.set(sandboxId, new Set([generation]));
    this.lost.delete(sandboxId);
    this.mistaken.delete(sandboxId);
    this.contact(sandboxId, { kind: 'up', generation });
    return 'up';
  }

  /** Stops this incarnation and every older one, for good; false when a newer one was started. */
  down(sandboxId: SandboxId, generation: number): boolean {
    const fence = this.fenceOf(sandboxId);
    if (fence.started > generation) return false;
    fence.ended = Math.max(fence.ended, generation);
    this.live.delete(sandboxId);
    this.frozen.delete(sandboxId);
    return true;
  }

  /** Every incarnation there was or will be has ended, and all storage is gone. */
  destroy(sandboxId: SandboxId): void {
    this.fenceOf(sandboxId).ended = Infinity;
    this.live.delete(sandboxId);
    this.frozen.delete(sandboxId);
    this.foreign.remove(sandboxId);
  }

  /** False when there is nothing to read any more. */
  archive(sandboxId: SandboxId): boolean {
    if (this.removed.has(sandboxId) || this.isDestroyed(sandboxId)) return false;
    this.archived.add(sandboxId);
    return true;
  }

  isUp(sandboxId: SandboxId, generation: number): boolean {
    return this.live.get(sandboxId)?.has(generation) === true && !this.lost.has(sandboxId);
  }

  /** The Agent Server of this incarnation has answered. */
  ready(sandboxId: SandboxId, generation: number): void {
    this.fenceOf(sandboxId).ready = generation;
  }

  wasReady(sandboxId: SandboxId, generation: number): boolean {
    return this.fences.get(sandboxId)?.ready === generation;
  }

  isDestroyed(sandboxId: SandboxId): boolean {
    return this.fences.get(sandboxId)?.ended === Infinity;
  }

  /** An incarnation that never answered is stopped; the next order may start it again. */
  giveUp(sandboxId: SandboxId, generation: number): void {
    if (this.isUp(sandboxId, generation)) this.live.delete(sandboxId);
  }

  /** An object without an owner stays behind, unless nothing of the sandbox may be there any more. */
  leave(sandboxId: SandboxId): void {
    const isOver = this.removed.has(sandboxId) || this.isDestroyed(sandboxId);
    if (!isOver && !this.live.has(sandboxId)) this.foreign.add(sandboxId);
  }

  /** Its processes are dead; the files are there. No poll has seen it yet. */
  die(sandboxId: SandboxId, why: string): void {
    this.live.delete(sandboxId);
    this.frozen.delete(sandboxId);
    this.lost.set(sandboxId, 'crashed');
    this.whys.set(sandboxId, why);
  }

  /** Its processes and its files are gone. No poll has seen it yet. */
  vanish(sandboxId: SandboxId): void {
    this.die(sandboxId, 'removed from outside');
    this.removed.add(sandboxId);
    this.foreign.remove(sandboxId);
    this.lost.set(sandboxId, 'gone');
  }

  /** Something happens to the runtime that was not ordered; the watch sees it at its next poll. */
  lose(sandboxId: SandboxId, loss: Loss): void {
    this.lost.set(sandboxId, loss);
    if (loss === 'gone' || loss === 'evicted') this.live.delete(sandboxId);
    this.changed(sandboxId);
  }

  /** It can be queried again. */
  find(sandboxId: SandboxId): void {
    this.lost.delete(sandboxId);
    this.changed(sandboxId);
  }

  lossOf(sandboxId: SandboxId): Loss | null {
    if (this.isSilent(sandboxId)) return 'unknown';
    if (this.mistaken.has(sandboxId)) return null;
    return this.lost.get(sandboxId) ?? null;
  }

  /** The last words of what died. */
  whyOf(sandboxId: SandboxId): string {
    return this.whys.get(sandboxId) ?? 'the model says so';
  }

  /** There are files that a start could use. */
  hasStorage(sandboxId: SandboxId): boolean {
    return this.fences.has(sandboxId) && !this.removed.has(sandboxId) && !this.isDestroyed(sandboxId);
  }

  /** Something happened to it that a poll may see. */
  isLost(sandboxId: SandboxId): boolean {
    return this.lost.has(sandboxId);
  }

  /** It cannot be queried for now, whatever it is. */
  isSilent(sandboxId: SandboxId): boolean {
    return this.isAway || this.frozen.has(sandboxId);
  }

  /** Something reaches it now; what counts is the product's to say. */
  contact(sandboxId: SandboxId, contact: Contact): void {
    if (isActivity(contact)) this.touch(sandboxId, this.port.now());
  }

  touch(sandboxId: SandboxId, at: number): void {
    if (at > (this.touched.get(sandboxId) ?? 0)) this.touched.set(sandboxId, at);
  }

  private fenceOf(sandboxId: SandboxId): Fence {
    let fence = this.fences.get(sandboxId);
    if (fence === undefined) {
      fence = { started: 0, ended: 0, ready: 0 };
      this.fences.set(sandboxId, fence);
    }
    return fence;
  }
}
