/**
 * One call on its way through a gateway: dispatched, relayed, closed.
 * Owns that its spend row is closed exactly once, whatever ends it; must not retry.
 */
import type { ServerResponse } from 'node:http';
import type { Dispatcher, Pool } from 'undici';
import type { NanoUsd } from '../core/money.ts';
import type { SpendRow } from '../core/spend.ts';
import type { ModelEntry } from './config.ts';
import { connectionFailure, type ReplyHeaders } from './gateway-reply.ts';
import { HeldReply } from './held-reply.ts';
import { sendFailure } from './http-exchange.ts';
import { JOINED_BODY_BYTES_MAX } from './limits.ts';
import type { Reply } from './reply.ts';
import type { CloseFacts } from './spend-row.ts';
import { StreamedReply } from './streamed-reply.ts';
import { readCostHeader } from './usage.ts';

export interface GatewayCallOptions {
  readonly res: ServerResponse;
  readonly entry: ModelEntry;
  readonly row: SpendRow;
  readonly headers: readonly string[];
  readonly body: readonly Buffer[];
  readonly isUsageShown: boolean;
  /** Called once, when the call has ended in whatever way. */
  readonly onClosed: (facts: Omit<CloseFacts, 'endedAt'>) => void;
}

export class GatewayCall implements Dispatcher.DispatchHandler {
  private readonly options: GatewayCallOptions;
  private controller: Dispatcher.DispatchController | null = null;
  private reply: Reply | null = null;
  private httpStatus: number | null = null;
  private headerCost: NanoUsd | null = null;
  private isClosed = false;

  constructor(options: GatewayCallOptions) {
    this.options = options;
    options.res.on('close', () => this.leave());
    options.res.on('drain', () => this.controller?.resume());
  }

  /** Sends the call; everything further happens on its events. */
  dispatch(pool: Pool): void {
    const { entry, headers, body } = this.options;
    const length = body.reduce((sum, piece) => sum + piece.length, 0);
    const request: Dispatcher.DispatchOptions = {
      method: 'POST',
      path: entry.completionsPath,
      headers: [...headers],
      // The type leaves out what the pool takes as well: any iterable of buffers.
      body: (length <= JOINED_BODY_BYTES_MAX ? Buffer.concat(body) : body) as Buffer,
      headersTimeout: entry.timeoutMs,
      bodyTimeout: entry.timeoutMs,
    };
    pool.dispatch(request, this);
  }

  /** Ends the call because nobody waits for it: the caller's connection has ended, or the proxy stops. */
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
    const { res, entry, isUsageShown } = this.options;
    const isStream = status < 300 && (headers['content-type'] ?? '').startsWith('text/event-stream');
    if (!isStream) this.headerCost = readCostHeader(headers);
    this.reply = isStream
      ? new StreamedReply({ res, headers, apiKey: entry.apiKey, isUsageShown })
      : new HeldReply({ res, status, headers, apiKey: entry.apiKey });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.isClosed) return;
    if (this.reply?.data(chunk) === false) controller.pause();
    if (this.reply?.isOver !== true) return;
    this.close('failed');
    controller.abort(new Error('The stream began with an error'));
  }

  onResponseEnd(): void {
    if (this.isClosed) return;
    this.close(this.reply?.end() === true ? 'succeeded' : 'failed');
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    if (this.isClosed) return;
    const { res, row } = this.options;
    const failed = connectionFailure(error, { modelName: row.modelName, hadReply: this.reply !== null });
    if (this.reply === null) sendFailure(res, failed);
    this.close(this.reply?.drop(failed) === true ? 'succeeded' : 'failed');
  }

  private close(state: CloseFacts['state']): void {
    this.isClosed = true;
    this.options.onClosed({
      state,
      httpStatus: this.httpStatus,
      responseId: this.reply?.responseId ?? null,
      usage: this.reply?.usage ?? null,
      price: this.options.entry.price,
      headerCost: this.headerCost,
    });
  }
}
