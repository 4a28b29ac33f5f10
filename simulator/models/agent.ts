/**
 * One agent's conversation as arithmetic: what it works on, until when, and what that has cost so far.
 * Owns status, work and spend of one conversation; must not know commands, and reads no clock.
 */
import type { AgentReport } from '../../core/conversation/message.ts';
import { costOf, type TokenPrice } from '../../core/money/price.ts';
import { earliest } from '../../core/time.ts';
import type { RandomStream } from '../random.ts';
import { draw } from './distribution.ts';
import type { AgentBehaviour, AgentGap } from './model-options.ts';

type Halt = 'rate_limit' | 'confirmation';
/** `agent`: until its runtime is started again; `runtime`: until that is thawed. */
export type Stillness = 'agent' | 'runtime';

export class Agent {
  status: AgentReport['status'] = 'IDLE';
  pausedReason: 'rate_limit' | null = null;
  /** Instant of the last change of status. */
  at: number;
  retryAt: number | null = null;
  /** Events of the conversation so far: never fewer. */
  transcript = 0;
  private restMs = 0;
  private restNanoUsd = 0;
  private spentNanoUsd = 0;
  private startedAt = 0;
  private halt: { readonly as: Halt; readonly afterMs: number; readonly waitMs: number } | null = null;
  private outcome: 'FINISHED' | 'ERROR' | 'STUCK' = 'FINISHED';
  private quiet: { readonly from: number; readonly until: number; readonly leased: boolean } | null = null;
  /** What is still to come, counted from `startedAt`. */
  private gaps: readonly AgentGap[] = [];
  /** It stands still in the middle of its work: since when, and what would set it going again. */
  private still: { readonly since: number; readonly by: Stillness } | null = null;

  constructor(at: number) {
    this.at = at;
  }

  /** Takes on the work of one message; what was left of earlier work comes first. */
  take(
    now: number,
    behaviour: AgentBehaviour,
    { stream, price }: { readonly stream: RandomStream; readonly price: TokenPrice },
  ): void {
    const { still } = this;
    this.cut(now, 'PAUSED');
    const workMs = draw(behaviour.work, stream.split('work'));
    this.restMs += workMs;
    const promptTokens = draw(behaviour.inputTokens, stream.split('input'));
    const completionTokens = draw(behaviour.outputTokens, stream.split('output'));
    this.restNanoUsd += costOf(price, { promptTokens, completionTokens });
    this.outcome = chooseOutcome(behaviour, stream.split('outcome'));
    this.halt = chooseHalt(behaviour, stream, this.restMs);
    this.leaveGaps(behaviour.gaps ?? [], this.restMs);
    this.goOn(now);
    this.quieten(now, behaviour, stream.split('quiet'));
    if (still !== null) this.stand(now, still.by);
  }

  /** Goes on with what is left; nothing changes for one that is at it. */
  goOn(now: number): void {
    this.settle(now);
    if (this.status === 'RUNNING') return;
    this.set('RUNNING', now);
    this.startedAt = now;
  }

  /** The instant at which it stops working by itself; null while it does not work. */
  get restsAt(): number | null {
    if (this.status !== 'RUNNING' || this.still !== null) return null;
    return this.startedAt + Math.min(this.restMs, this.halt?.afterMs ?? Infinity);
  }

  /** Brings the status up to now; true when it came to rest by that. */
  settle(now: number): boolean {
    const { restsAt, halt } = this;
    if (restsAt === null || now < restsAt) return false;
    const halted = halt !== null && halt.afterMs < this.restMs;
    this.account(restsAt);
    this.halt = null;
    if (!halted) this.set(this.outcome, restsAt);
    else if (halt.as === 'confirmation') this.set('WAITING_FOR_CONFIRMATION', restsAt);
    else {
      this.set('PAUSED', restsAt);
      this.pausedReason = 'rate_limit';
      this.retryAt = restsAt + halt.waitMs;
    }
    return true;
  }

  /** Stops working, for any caller; keeps what is left to do. */
  cut(now: number, status: AgentReport['status']): void {
    this.settle(now);
    if (this.status !== 'RUNNING') return;
    this.account(now);
    this.set(status, now);
  }

  /** Stops in the middle of its work and reports nothing of it: no progress, no spend, still RUNNING. */
  stand(now: number, by: Stillness): void {
    this.settle(now);
    if (this.status !== 'RUNNING') return;
    this.account(now);
    this.startedAt = now;
    if (this.still?.by !== 'agent') this.still = { since: this.still?.since ?? now, by };
  }

  /** Goes on where it stood still; does nothing when something else holds it. */
  walk(now: number, by: Stillness): void {
    if (this.still?.by !== by) return;
    this.still = null;
    this.startedAt = now;
  }

  get isStill(): boolean {
    return this.still !== null;
  }

  /** The gateway limits it: it waits, and keeps what is left to do. */
  limit(now: number, retryAt: number): void {
    this.cut(now, 'PAUSED');
    if (this.status !== 'PAUSED') return;
    this.pausedReason = 'rate_limit';
    this.retryAt = retryAt;
  }

  /** The gateway does not answer, and is called again for so long; then the work goes on. */
  wait(now: number, waitMs: number): void {
    this.cut(now, 'PAUSED');
    if (this.status !== 'PAUSED') return;
    this.restMs += waitMs;
    this.goOn(now);
  }

  /** After so long of retries it gives up, whatever was left to do. */
  giveUp(now: number, afterMs: number): void {
    this.cut(now, 'PAUSED');
    if (this.status !== 'PAUSED') return;
    this.halt = null;
    this.gaps = [];
    this.restMs = afterMs;
    this.restNanoUsd = 0;
    this.outcome = 'ERROR';
    this.goOn(now);
  }

  /** Latest activity by D9: work is activity unless it is quiet, and a lease makes quiet work activity. */
  lastActivityAt(now: number): number {
    const { restsAt, quiet } = this;
    if (restsAt === null) return this.still?.since ?? this.at;
    const until = Math.min(now, restsAt);
    const isQuiet = quiet !== null && !quiet.leased && quiet.from <= until && until < quiet.until;
    if (isQuiet) return quiet.from;
    const workedMs = until - this.startedAt;
    const gap = this.gaps.find((one) => one.atMs <= workedMs && workedMs < one.atMs + one.lengthMs);
    return gap === undefined || gap.leased ? until : this.startedAt + gap.atMs;
  }

  /** No instant before this one finds it without activity for so long, unless it is cut off from its work. */
  idleAt(now: number, idleTimeMs: number): number {
    const { restsAt, quiet } = this;
    if (restsAt === null) return (this.still?.since ?? this.at) + idleTimeMs;
    let at = restsAt + idleTimeMs;
    if (quiet !== null && !quiet.leased && isIdleIn(quiet, now, idleTimeMs))
      at = Math.min(at, quiet.from + idleTimeMs);
    for (const { atMs, lengthMs, leased } of this.gaps) {
      const from = this.startedAt + atMs;
      if (!leased && isIdleIn({ from, until: from + lengthMs }, now, idleTimeMs))
        at = Math.min(at, from + idleTimeMs);
    }
    return at;
  }

  /** When an agent without a new event for so long is called stalled; null when it is not going to be. */
  stallsAt(noProgressMs: number): number | null {
    if (this.status !== 'RUNNING') return null;
    if (this.still !== null) return this.still.since + noProgressMs;
    const gap = this.gaps.find(({ lengthMs }) => lengthMs > noProgressMs);
    const gapAt = gap === undefined ? null : this.startedAt + gap.atMs + noProgressMs;
    if (this.quiet === null) return gapAt;
    const at = this.quiet.from + noProgressMs;
    return earliest(at < this.quiet.until ? at : null, gapAt);
  }

  /** Integer nano-USD of everything up to now. */
  spentBy(now: number): number {
    return this.spentNanoUsd + (this.status === 'RUNNING' ? this.accrued(now) : 0);
  }

  /** When the spend reaches an amount, if the work goes on; null when it does not. */
  spends(nanoUsd: number): number | null {
    if (this.status !== 'RUNNING' || this.still !== null || this.spentNanoUsd + this.restNanoUsd < nanoUsd)
      return null;
    const missing = Math.max(0, nanoUsd - this.spentNanoUsd);
    return this.startedAt + Math.ceil((this.restMs * missing) / Math.max(1, this.restNanoUsd));
  }

  /** It stops where it halts, whether a poll has seen it since or not. */
  private workedMs(now: number): number {
    if (this.still !== null) return 0;
    return Math.min(Math.max(0, now - this.startedAt), this.restMs, this.halt?.afterMs ?? Infinity);
  }

  private accrued(now: number): number {
    const workedMs = this.workedMs(now);
    return workedMs === this.restMs
      ? this.restNanoUsd
      : Math.floor(this.restNanoUsd * (workedMs / this.restMs));
  }

  private account(now: number): void {
    const accrued = this.accrued(now);
    const workedMs = this.workedMs(now);
    this.spentNanoUsd += accrued;
    this.restNanoUsd -= accrued;
    this.restMs -= workedMs;
    if (this.halt !== null) this.halt = { ...this.halt, afterMs: Math.max(0, this.halt.afterMs - workedMs) };
    this.quiet = null;
    this.gaps = this.gaps.flatMap((gap) =>
      gap.atMs > workedMs ? [{ ...gap, atMs: gap.atMs - workedMs }] : [],
    );
  }

  private set(status: AgentReport['status'], at: number): void {
    this.status = status;
    this.at = at;
    this.pausedReason = null;
    this.retryAt = null;
    this.still = null;
    this.transcript += 1;
  }

  /** A gap at a place that the work does not reach never comes. */
  private leaveGaps(gaps: readonly AgentGap[], workMs: number): void {
    let addedMs = 0;
    const reached = gaps.filter(({ atMs }) => atMs < workMs);
    this.gaps = reached.map((gap) => {
      const atMs = gap.atMs + addedMs;
      addedMs += gap.lengthMs;
      return { ...gap, atMs };
    });
    this.restMs += addedMs;
  }

  /** A quiet stretch is time on top: a slow tool, waited for. */
  private quieten(now: number, { quiet }: AgentBehaviour, stream: RandomStream): void {
    if (!stream.happens(quiet.share)) return;
    const lengthMs = draw(quiet.length, stream);
    const from = now + Math.floor(stream.next() * this.restMs);
    this.quiet = { from, until: from + lengthMs, leased: stream.happens(quiet.leased) };
    this.restMs += lengthMs;
  }
}

function isIdleIn(
  stretch: { readonly from: number; readonly until: number },
  now: number,
  idleTimeMs: number,
): boolean {
  return now < stretch.until && stretch.from + idleTimeMs < stretch.until;
}

function chooseOutcome({ outcomes }: AgentBehaviour, stream: RandomStream): 'FINISHED' | 'ERROR' | 'STUCK' {
  const { FINISHED, ERROR, STUCK } = outcomes;
  const drawn = stream.next() * (FINISHED + ERROR + STUCK);
  if (drawn < FINISHED) return 'FINISHED';
  return drawn < FINISHED + ERROR ? 'ERROR' : 'STUCK';
}

function chooseHalt(behaviour: AgentBehaviour, stream: RandomStream, restMs: number) {
  const { rateLimit, confirmation } = behaviour;
  const where = stream.split('halt');
  const afterMs = Math.floor(where.next() * restMs);
  if (where.happens(confirmation.share)) return { as: 'confirmation', afterMs, waitMs: 0 } as const;
  if (!where.happens(rateLimit.share)) return null;
  return { as: 'rate_limit', afterMs, waitMs: draw(rateLimit.wait, where) } as const;
}
