/**
 * The idle watches: what a poll of a sandbox finds, and when the next poll is worth it.
 * Owns polls and their answers as activities/watch-idle.ts gives them; must not decide what they mean for a sandbox.
 */
import type { CommandOf, MachineEvent } from '../../core/machine/command.ts';
import type { SandboxId } from '../../core/ids.ts';
import type { ModelPort } from '../model-port.ts';
import type { Loss, RuntimeModel } from './runtime-model.ts';

/** Polls in a row that found the runtime unreachable before it is called stale, as in the product. */
const UNKNOWN_POLLS_MAX = 3;

/** Agents of a sandbox, as far as idleness is concerned. */
interface Idleness {
  /** Latest activity by D9, epoch milliseconds. */
  lastActivityAt(id: SandboxId): number;
  /** No instant before this one can be idle, unless an agent is cut off from work. */
  idleAt(id: SandboxId, idleTimeMs: number): number;
}

/** What a poll shows in the place of the truth: null is up. */
type Sight = (command: CommandOf<'watchIdle'>, loss: Loss | null) => Loss | null;
/** The last activity that an Agent Server claims: epoch milliseconds, the true one or a later one. */
export type Claim = (command: CommandOf<'watchIdle'>, lastActivityAt: number) => number;

interface Watch {
  readonly command: CommandOf<'watchIdle'>;
  /** Instant of the next poll; Infinity when none is. */
  nextAt: number;
  /** Instants of the polls that are to come beside it: the next regular one, and one for an event. */
  pollAt: number;
  eventAt: number;
  unknownPolls: number;
}

export class IdleWatches {
  /** What a poll shows; a fault may show something else. */
  sight: Sight | null = null;
  /** What an Agent Server claims when idleness is reached; a fault may claim more activity than there was. */
  claim: Claim | null = null;
  private readonly watches = new Map<SandboxId, Watch>();
  private readonly port: ModelPort;
  private readonly pollMs: number;
  private readonly runtime: RuntimeModel;
  private readonly idleness: Idleness;

  constructor(
    port: ModelPort,
    parts: { readonly pollMs: number; readonly runtime: RuntimeModel; readonly idleness: Idleness },
  ) {
    this.port = port;
    this.pollMs = parts.pollMs;
    this.runtime = parts.runtime;
    this.idleness = parts.idleness;
  }

  begin(command: CommandOf<'watchIdle'>): void {
    const watch: Watch = { command, nextAt: Infinity, pollAt: -1, eventAt: -1, unknownPolls: 0 };
    this.watches.set(command.sandboxId, watch);
    this.arm(watch, this.port.now());
  }

  /**
   * Something may be seen: it is polled after that time, beside the polls that are due anyway. There is one poll: all
   * that wait for their next poll are served by the one that is to come.
   */
  pollAfter(id: SandboxId, ms: number): void {
    const watch = this.watches.get(id);
    if (watch === undefined) return;
    const now = this.port.now();
    const at = now + ms;
    const isPoll = ms >= this.pollMs;
    if (isPoll ? watch.pollAt > now : watch.eventAt === at) return;
    if (isPoll) watch.pollAt = at;
    else watch.eventAt = at;
    this.port.later(watch.command.id, at, () => {
      if (isPoll) watch.pollAt = -1;
      else if (watch.eventAt === at) watch.eventAt = -1;
      this.poll(watch);
    });
  }

  pollAllAfter(ms: number): void {
    for (const id of this.watches.keys()) this.pollAfter(id, ms);
  }

  /** Work ended before its time, so idleness may come before the poll that is due. */
  reconsider(id: SandboxId): void {
    const watch = this.watches.get(id);
    if (watch !== undefined && watch.nextAt !== Infinity) this.armForIdleness(watch);
  }

  private arm(watch: Watch, at: number): void {
    if (at >= watch.nextAt) return;
    watch.nextAt = at;
    this.port.later(watch.command.id, at, () => {
      if (watch.nextAt === at) this.poll(watch);
    });
  }

  private poll(watch: Watch): void {
    const { command } = watch;
    const { sandboxId, idleTimeMs, stale } = command;
    const now = this.port.now();
    if (watch.nextAt <= now) watch.nextAt = Infinity;
    const truth = this.runtime.lossOf(sandboxId);
    const loss = this.sight === null ? truth : this.sight(command, truth);
    const event = this.judge(watch, loss);
    if (event !== null) return this.answer(watch, event);
    const isLost = this.runtime.isLost(sandboxId);
    // Seen wrongly, or not often enough to be sure: the next regular poll is worth it.
    if (loss !== truth || (loss === 'unknown' && !stale && !isLost)) this.pollAfter(sandboxId, this.pollMs);
    if (idleTimeMs === null || isLost) return;
    const last = Math.max(command.since, this.idleness.lastActivityAt(sandboxId));
    if (now < last + idleTimeMs) return this.armForIdleness(watch);
    const lastActivityAt = this.claim === null ? last : this.claim(command, last);
    if (now < lastActivityAt + idleTimeMs) return this.arm(watch, lastActivityAt + idleTimeMs);
    this.answer(watch, { type: 'idleReached', commandId: command.id, lastActivityAt, lookedAt: now });
  }

  private answer(watch: Watch, event: MachineEvent): void {
    const { command } = watch;
    if (this.watches.get(command.sandboxId) === watch) this.watches.delete(command.sandboxId);
    this.port.answer(command, event);
  }

  /** Not before an agent could have rested for long enough: an agent at work is not disturbed for it. */
  private armForIdleness(watch: Watch): void {
    const { sandboxId, idleTimeMs, since } = watch.command;
    if (idleTimeMs === null) return;
    this.arm(watch, Math.max(since + idleTimeMs, this.idleness.idleAt(sandboxId, idleTimeMs)));
  }

  /** Gone, dead and unreachable are three different things (D13). */
  private judge(watch: Watch, loss: Loss | null): MachineEvent | null {
    const { id: commandId, stale, sandboxId } = watch.command;
    watch.unknownPolls = loss === 'unknown' ? watch.unknownPolls + 1 : 0;
    switch (loss) {
      case 'gone':
        return { type: 'runtimeGone', commandId };
      case 'evicted':
        return { type: 'runtimeEvicted', commandId };
      case 'crashed':
        return { type: 'runtimeCrashed', commandId, reason: this.runtime.whyOf(sandboxId) };
      case 'unknown':
        return stale ? null : this.judgeUnknown(watch);
      case null:
        return stale ? { type: 'runtimeAnswered', commandId } : null;
    }
  }

  /** Several polls in a row must get no answer, unless the model itself says that it is unknown. */
  private judgeUnknown(watch: Watch): MachineEvent | null {
    const { id: commandId, sandboxId } = watch.command;
    const isSure = this.runtime.isLost(sandboxId) || watch.unknownPolls >= UNKNOWN_POLLS_MAX;
    return isSure ? { type: 'runtimeUnknown', commandId } : null;
  }
}
