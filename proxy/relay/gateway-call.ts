/**
 * One call on its way through a gateway: dispatched, relayed, closed.
 * Owns that its spend row is closed exactly once, however it ends; must not retry.
 */
import type { OutgoingHttpHeader, ServerResponse } from 'node:http';
import type { Dispatcher, Pool } from 'undici';
import type { SpendRow } from '../../core/money/spend.ts';
import type { SentBody } from './body-chunks.ts';
import type { ModelEntry } from '../config/config.ts';
import { connectionFailure, wasReached, type ReplyHeaders } from './gateway-reply.ts';
import { HeldReply } from './held-reply.ts';
import { sendFailure } from './http-exchange.ts';
import { RecognisedReply } from '../recognised-reply.ts';
import type { RelayKind } from './relay-kind.ts';
import type { Reply, ReplyOptions } from './reply.ts';
import type { CloseFacts } from '../spend/spend-row.ts';
import { readCostHeader } from '../spend/usage.ts';

export interface GatewayCallOptions {
  readonly res: ServerResponse;
  readonly kind: RelayKind;
  readonly entry: ModelEntry;
  readonly row: SpendRow;
  readonly headers: readonly string[];
  /** Headers of the proxy itself about this call, name and value alternating. */
  readonly ownHeaders: readonly OutgoingHttpHeader[];
  readonly body: SentBody;
  readonly isUsageShown: boolean;
  /**
   * Called before a failure is passed on, while the caller has nothing of a reply: milliseconds until another try, or
   * null when none follows. `status` null means that no whole answer came.
   */
  readonly handOver: (status: number | null, headers: ReplyHeaders) => number | null;
  /** Called once, when the call has ended in any way. */
  readonly onClosed: (end: CallEnd) => void;
}

export interface CallEnd extends CloseFacts {
  /** Milliseconds until the next try, if the caller got no answer because of it; null when none follows. */
  readonly nextTryMs: number | null;
  readonly replyBytes: number;
  /** The gateway refused it, or was never reached: nothing of it is billed. */
  readonly isUnbilled: boolean;
}

export class GatewayCall implements Dispatcher.DispatchHandler {
  private readonly options: GatewayCallOptions;
  private controller: Dispatcher.DispatchController | null = null;
  private reply: Reply | null = null;
  private httpStatus: number | null = null;
  private headers: ReplyHeaders = {};
  private isClosed = false;
  private nextTryMs: number | null = null;
  private replyBytes = 0;
  private wasReached = true;
  private readonly onLeft = (): void => this.leave();

  constructor(options: GatewayCallOptions) {
    this.options = options;
    options.res.on('close', this.onLeft);
  }

  /** Sends the call; everything further happens on its events. */
  dispatch(pool: Pool): void {
    const { entry, kind, headers, body } = this.options;
    const request: Dispatcher.DispatchOptions = {
      method: 'POST',
      path: `${entry.basePath}${kind.suffix}`,
      // Neither the pool nor a later try changes the list.
      headers: headers as string[],
      // A list is sent piece by piece, which undici's types do not include.
      body: body as Buffer,
      headersTimeout: entry.timeoutMs,
      bodyTimeout: entry.timeoutMs,
    };
    pool.dispatch(request, this);
  }

  /** Ends the call because the caller's connection has ended, or the proxy stops. */
  leave(): void {
    if (this.isClosed) return;
    this.close('aborted');
    this.controller?.abort(new Error('The caller went away'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.isClosed) controller.abort(new Error('The caller went away'));
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: ReplyHeaders): void {
    // 1xx replies announce the real one.
    if (status < 200 || this.isClosed) return;
    this.httpStatus = status;
    this.headers = headers;
    if (status >= 400 && this.handsOver(status)) return;
    const { res, kind, entry, row, isUsageShown, ownHeaders } = this.options;
    const { apiKey } = entry;
    const { modelName } = row;
    const handOver = (refusal: number | null): boolean => this.handsOver(refusal);
    const about = { res, kind, status, headers, ownHeaders, apiKey, modelName };
    const options: ReplyOptions = { ...about, isUsageShown, handOver };
    this.reply = status < 300 ? new RecognisedReply(options) : new HeldReply(options);
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isClosed) return;
    this.replyBytes += chunk.length;
    if (this.reply?.data(chunk) === false) this.pause(controller);
    if (this.reply?.isOver !== true) return;
    this.close('failed');
    controller.abort(new Error('The stream began with an error'));
  }

  onResponseEnd(): void {
    if (this.isClosed) return;
    this.close(this.reply?.end() ?? 'failed');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.isClosed) return;
    const { res, row } = this.options;
    this.wasReached = wasReached(error);
    // The answer that is not passed on was cut off: its status is known, and another try is already decided.
    if (this.nextTryMs !== null || (!res.headersSent && this.handsOver(null))) {
      this.close('failed');
      return;
    }
    const failed = connectionFailure(error, { modelName: row.modelName, hadReply: this.reply !== null });
    if (this.reply === null) sendFailure(res, failed, this.options);
    this.close(this.reply?.drop(failed) === true ? 'succeeded' : 'failed');
  }

  /** Until the caller has read what was written; most calls never get here. */
  private pause(controller: Dispatcher.DispatchController): void {
    if (controller.paused) return;
    controller.pause();
    this.options.res.once('drain', () => controller.resume());
  }

  private handsOver(status: number | null): boolean {
    this.nextTryMs ??= this.options.handOver(status, this.headers);
    return this.nextTryMs !== null;
  }

  private close(state: CloseFacts['state']): void {
    const { res } = this.options;
    const { reply, httpStatus } = this;
    const usage = reply?.usage ?? null;
    const wasRefused =
      (httpStatus !== null && httpStatus >= 300) || (reply?.isRefused === true && usage === null);
    this.isClosed = true;
    // Otherwise the listener stays: calling it without effect costs less than removing it.
    if (this.nextTryMs !== null) res.off('close', this.onLeft);
    this.options.onClosed({
      state,
      httpStatus,
      responseId: reply?.responseId ?? null,
      usage,
      price: this.options.entry.price,
      headerCost: reply === null || reply.isStream ? null : readCostHeader(this.headers),
      nextTryMs: this.nextTryMs,
      replyBytes: this.replyBytes,
      isUnbilled: !this.wasReached || wasRefused,
    });
  }
}
