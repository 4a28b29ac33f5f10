/**
 * One call of a caller, which may take more than one try at the gateways.
 * Owns the order of tries, a spend row for each that is sent (D26), and the pause between two; must not touch a
 * reply's bytes. Without `router_settings` there is exactly one try (D22).
 */
import type { SpendRow } from '../../core/money/spend.ts';
import { askedWaitMs } from '../asked-wait.ts';
import { sentLength, type SentBody } from './body-chunks.ts';
import type { Caller } from '../keys/caller.ts';
import { failure, type Failure } from '../failure.ts';
import { GatewayCall, type CallEnd } from './gateway-call.ts';
import type { ReplyHeaders } from './gateway-reply.ts';
import { askOf, endedAtMost, measuredBy } from '../spend/call-bound.ts';
import type { CallMoney } from '../spend/call-money.ts';
import { recordCall } from '../spend/call-record.ts';
import { sendFailure, type Exchange } from './http-exchange.ts';
import type { Target } from '../config/model-table.ts';
import type { OpenCall } from './open-calls.ts';
import type { LiveConfig, ProxyParts } from '../proxy-parts.ts';
import type { RelayKind } from './relay-kind.ts';
import type { RelayRequest } from './relay-request.ts';
import { upstreamHeaders } from './request-headers.ts';
import { mayHelp, pauseBefore } from './retry-rule.ts';
import { chargedRow, closeRow, openRow, type CallerFacts } from '../spend/spend-row.ts';

export interface RelayCallOptions {
  readonly parts: ProxyParts;
  /** The configuration when the call arrived: a later reload does not affect this call. */
  readonly live: LiveConfig;
  readonly exchange: Exchange;
  readonly caller: Caller;
  readonly kind: RelayKind;
  readonly request: RelayRequest;
  /** One for each try, in order; at least one. */
  readonly targets: readonly Target[];
  readonly facts: CallerFacts;
  readonly money: CallMoney;
}

/** A try that waits for its row to be on disk; a free call has no row there. */
interface ReadyTry {
  readonly target: Target;
  readonly row: SpendRow;
  readonly headers: readonly string[];
  readonly body: SentBody;
}

export class RelayCall implements OpenCall {
  place = 0;
  private readonly options: RelayCallOptions;
  private tries = 0;
  private current: GatewayCall | null = null;
  private timer: NodeJS.Timeout | null = null;
  private isEnded = false;
  private isLeft = false;
  /** Of the last try that was sent; part of every answer to the caller. */
  private ownHeaders: string[] = [];

  constructor(options: RelayCallOptions) {
    this.options = options;
  }

  /**
   * Sends the next try, once there is money for it. Gives why it cannot be sent; then the call has ended and nothing was
   * written to the caller.
   */
  send(): Failure | null | Promise<Failure | null> {
    const { exchange, money } = this.options;
    const target = this.options.targets[this.tries];
    // For a caller that left meanwhile, nothing more is sent.
    if (target === undefined || exchange.res.destroyed) return this.end(null);
    if (money.isFree || this.options.kind.isFree) return this.open(target);
    const reserved = money.reserve(() => askOf(this.bounded(target)));
    if (!(reserved instanceof Promise))
      return reserved === null ? this.open(target) : this.end(null, reserved);
    const onLeft = (): void => this.leave();
    exchange.res.once('close', onLeft);
    return reserved.then((refused) => {
      exchange.res.off('close', onLeft);
      return refused === null ? this.open(target) : this.end(null, refused);
    });
  }

  private bounded(target: Target) {
    const { kind, request, live } = this.options;
    return { kind, request, target, measured: live.models.states.of(target.entry)?.measured ?? null };
  }

  private open(target: Target): Failure | null {
    const { parts, live, exchange, request, kind, caller, money } = this.options;
    const body = request.rewrite(target.upstreamModel);
    const outcome = upstreamHeaders(live.headerRule, {
      rawHeaders: exchange.req.rawHeaders,
      sessionId: caller.sessionId,
      entry: target.entry,
      contentLength: sentLength(body),
      words: kind.words,
    });
    if (!outcome.ok) {
      const message = `Cannot forward header "${outcome.name}": its value holds a character that cannot be sent`;
      return this.end(null, failure('header_not_sendable', message, outcome.name));
    }
    const facts = {
      callId: parts.newId(),
      startedAt: parts.clock.now(),
      route: kind.route,
      upstreamModel: target.upstreamModel,
      streamed: request.streamed,
    };
    const row = openRow(this.facts, facts, money.heldNanoUsd);
    this.tries += 1;
    const ready = { target, row, headers: outcome.headers, body };
    if (kind.isFree) this.dispatch(ready);
    else this.openRow(ready);
    return null;
  }

  /** Includes what other proxies need to close the call if this process dies. */
  private get facts(): CallerFacts {
    const { facts, parts, money } = this.options;
    if (parts.shared === null) return facts;
    return { ...facts, proxyId: parts.shared.life.holder(), runId: money.runId ?? undefined };
  }

  private openRow(ready: ReadyTry): void {
    this.options.parts.writer.open(ready.row, (refused) => {
      if (refused === null) this.dispatch(ready);
      else this.refuse(ready.row, refused);
    });
  }

  leave(): void {
    this.isLeft = true;
    this.current?.leave();
    if (this.timer !== null) clearTimeout(this.timer);
    else if (!this.options.money.isWaiting) return;
    this.end(null);
  }

  /** The row is on disk. A caller that left meanwhile has its row closed, and nothing is sent for it. */
  private dispatch({ target, row, headers, body }: ReadyTry): void {
    const { parts, live, exchange, request, kind } = this.options;
    if (!kind.isFree) parts.counters.callsTotal += 1;
    live.models.states.begin(target.entry);
    this.ownHeaders = [`x-${parts.vendor}-call-id`, row.callId];
    if (this.tries > 1) this.ownHeaders.push(`x-${parts.vendor}-attempted-retries`, String(this.tries - 1));
    this.current = new GatewayCall({
      res: exchange.res,
      kind,
      entry: target.entry,
      row,
      headers,
      ownHeaders: this.ownHeaders,
      body,
      isUsageShown: request.usageAsked,
      handOver: (status, headers) => this.pauseAfter(status, headers),
      onClosed: (closed) => this.closed(target, row, closed),
    });
    if (this.isLeft || exchange.res.destroyed) this.current.leave();
    else this.current.dispatch(parts.pools.to(target.entry.origin));
  }

  private refuse(row: SpendRow, cause: Error): void {
    const { parts } = this.options;
    const fields = { callId: row.callId, cause: cause.message };
    parts.log.error(fields, 'Cannot open a spend row: the call was not sent');
    const message = 'Cannot send the call: its spend row cannot be kept';
    this.end(null);
    this.tell(failure('store_unavailable', message));
  }

  /** Milliseconds until the next try after such an answer; null when the answer goes to the caller. */
  private pauseAfter(status: number | null, headers: ReplyHeaders): number | null {
    const [present, next] = [this.options.targets[this.tries - 1], this.options.targets[this.tries]];
    if (next === undefined || !mayHelp(status) || this.options.exchange.res.destroyed) return null;
    if (next.entry.id !== present?.entry.id) return 0;
    const askedMs = status === null ? null : askedWaitMs(status, headers, this.options.parts.clock.now());
    return pauseBefore(this.tries, askedMs);
  }

  private closed(target: Target, row: SpendRow, closed: CallEnd): void {
    const { parts, live } = this.options;
    const at = parts.clock.now();
    const ended = this.settled(target, closeRow(row, at, closed), closed);
    const isFailure = closed.state === 'failed' || closed.state === 'cut';
    live.models.states.end(target.entry, { isFailure, status: closed.httpStatus, at });
    if (!this.options.kind.isFree) {
      parts.writer.close(ended);
      recordCall(parts, ended, target.entry.modelName);
    }
    const { nextTryMs } = closed;
    if (nextTryMs === null || closed.state === 'aborted') {
      this.end(ended);
      return;
    }
    const { limits } = this.options.caller;
    if (limits !== undefined) parts.virtualKeys?.charge(limits, ended);
    this.sendLater(nextTryMs);
  }

  /** Settles the money held for the try, and learns from it how much the next tries have to hold. */
  private settled(target: Target, row: SpendRow, { replyBytes, isUnbilled }: CallEnd): SpendRow {
    const { money, live, kind } = this.options;
    if (money.isFree || kind.isFree) return row;
    const call = { ...this.bounded(target), replyBytes, isBroken: row.state !== 'succeeded' };
    const measured = measuredBy(call, row);
    if (measured !== null) live.models.states.measure(target.entry, measured);
    return chargedRow(row, money.settle({ row, isUnbilled, seenNanoUsd: endedAtMost(call) }));
  }

  private sendLater(pauseMs: number): void {
    this.current = null;
    const { res } = this.options.exchange;
    const onLeft = (): void => this.leave();
    res.once('close', onLeft);
    this.timer = setTimeout(() => {
      this.timer = null;
      res.off('close', onLeft);
      void this.sendNext();
    }, pauseMs);
  }

  private async sendNext(): Promise<void> {
    const failed = await this.send();
    if (failed !== null) this.tell(failed);
  }

  private tell(failed: Failure): void {
    const { exchange, kind } = this.options;
    sendFailure(exchange.res, failed, { ownHeaders: this.ownHeaders, kind });
  }

  /** Nothing further will be sent; the row of the last try, null when none was sent. */
  private end(row: SpendRow | null, failed: Failure | null = null): Failure | null {
    if (this.isEnded) return failed;
    this.isEnded = true;
    this.timer = null;
    const { parts, caller, money } = this.options;
    money.cancel();
    parts.openCalls.remove(this);
    if (caller.limits !== undefined) parts.virtualKeys?.settle(caller.limits, row);
    return failed;
  }
}
