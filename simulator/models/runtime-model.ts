/**
 * The runtime: which incarnations are up, and what the idle watch sees.
 * Owns live objects and archives; must not decide what a sandbox's status is.
 */
import type { CommandOf, MachineEvent } from '../../core/command.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { ModelPort } from '../model-port.ts';
import type { RandomStream } from '../random.ts';
import { draw, type Distribution } from './distribution.ts';

/** What the runtime says when it is asked about a sandbox that it does not have any more. */
export type Loss = 'crashed' | 'gone' | 'unknown';

export class RuntimeModel {
  readonly live = new Map<SandboxId, Set<number>>();
  readonly archived = new Set<SandboxId>();
  /** Boots, deliveries and accesses count as activity at their instant (D9). */
  readonly touched = new Map<SandboxId, number>();
  private readonly lost = new Map<SandboxId, Loss>();
  private readonly watches = new Map<SandboxId, CommandOf<'watchIdle'>>();
  private readonly port: ModelPort;
  private readonly pollMs: number;

  constructor(port: ModelPort, pollMs: number) {
    this.port = port;
    this.pollMs = pollMs;
  }

  up(sandboxId: SandboxId, generation: number): void {
    const generations = this.live.get(sandboxId) ?? new Set();
    this.live.set(sandboxId, generations.add(generation));
    this.lost.delete(sandboxId);
    this.touched.set(sandboxId, this.port.now());
  }

  /** Stops this incarnation and every older one. */
  down(sandboxId: SandboxId, generation: number): void {
    const generations = this.live.get(sandboxId);
    for (const one of generations ?? []) if (one <= generation) generations?.delete(one);
    if (generations?.size === 0) this.live.delete(sandboxId);
  }

  isUp(sandboxId: SandboxId, generation: number): boolean {
    return this.live.get(sandboxId)?.has(generation) === true && !this.lost.has(sandboxId);
  }

  /** Something happens to the runtime that nobody ordered; the watch sees it when it next asks. */
  lose(sandboxId: SandboxId, loss: Loss): void {
    this.lost.set(sandboxId, loss);
    if (loss === 'gone') this.live.delete(sandboxId);
    this.lookSoon(sandboxId);
  }

  /** It can be asked again. */
  find(sandboxId: SandboxId): void {
    this.lost.delete(sandboxId);
    this.lookSoon(sandboxId);
  }

  private lookSoon(sandboxId: SandboxId): void {
    const watch = this.watches.get(sandboxId);
    if (watch === undefined) return;
    this.port.later(watch.id, this.port.now() + this.pollMs, () => this.seen(watch));
  }

  private seen(watch: CommandOf<'watchIdle'>): void {
    const event = this.judge(watch);
    if (event !== null) this.port.answer(watch, event);
  }

  /** `lastActivityAt` is asked only when idleness could be reached: an agent is not disturbed for it. */
  watchIdle(command: CommandOf<'watchIdle'>, lastActivityAt: () => number): void {
    this.watches.set(command.sandboxId, command);
    const look = (): void => {
      const event = this.judge(command);
      if (event !== null) return this.port.answer(command, event);
      if (command.idleTimeMs === null || this.lost.has(command.sandboxId)) return;
      const last = Math.max(command.since, lastActivityAt());
      if (this.port.now() >= last + command.idleTimeMs)
        return this.port.answer(command, {
          type: 'idleReached',
          commandId: command.id,
          lastActivityAt: last,
        });
      this.port.later(command.id, last + command.idleTimeMs, look);
    };
    this.port.later(command.id, this.port.now(), look);
  }

  /** Gone, dead and unreachable are three different things (D13). */
  private judge({ id: commandId, sandboxId, stale }: CommandOf<'watchIdle'>): MachineEvent | null {
    switch (this.lost.get(sandboxId)) {
      case 'gone':
        return { type: 'runtimeGone', commandId };
      case 'crashed':
        return { type: 'runtimeCrashed', commandId, reason: 'the model says so' };
      case 'unknown':
        return stale ? null : { type: 'runtimeUnknown', commandId };
      case undefined:
        return stale ? { type: 'runtimeAnswered', commandId } : null;
    }
  }
}

/** The time of one call, the same for the same incarnation whatever else happens. */
export function callMs(distribution: Distribution, random: RandomStream, name: string): number {
  return draw(distribution, random.split(name));
}
