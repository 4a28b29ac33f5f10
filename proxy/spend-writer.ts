/**
 * Takes spend rows off the hot path and brings them to the store (D26).
 * Owns the order spool, then store, then forget; must not change a row.
 * A row is never lost: it is on disk before it counts, and its segment is removed only after the store has it.
 * It is never counted twice: the store takes rows by `callId`.
 */
import type { SpendRow } from '../core/spend.ts';
import type { SpendLog } from '../ports/spend-log.ts';
import { FLUSH_AFTER_MS, FLUSH_RETRY_MS_MAX, FLUSH_ROWS_MAX, SPOOL_BYTES_MAX } from './limits.ts';
import type { ProxyLog } from './log.ts';
import { rowsOf, SpendSpool, type Segment } from './spend-spool.ts';

export interface SpendWriterOptions {
  readonly spend: SpendLog;
  readonly spoolDir: string;
  readonly clock: { now(): number };
  readonly log: ProxyLog;
}

export class SpendWriter {
  private readonly options: SpendWriterOptions;
  private readonly spool: SpendSpool;
  private timer: NodeJS.Timeout | null = null;
  private flushing: Promise<void> = Promise.resolve();
  private failures = 0;
  /** Rows of this process wait for it: marking the open rows of an earlier one must not hit them. */
  private hasInterruptedEarlier = false;
  private isStopped = false;
  /** Closing rows the disk refused; they go with the next flush. */
  private readonly unspooled: SpendRow[] = [];

  constructor(options: SpendWriterOptions) {
    this.options = options;
    this.spool = new SpendSpool(options.spoolDir);
  }

  /** False once the store failed and until it takes rows again. */
  get isStoreReachable(): boolean {
    return this.failures === 0;
  }

  /** Bytes that the store does not have yet. */
  get spoolBytes(): number {
    return this.spool.bytes();
  }

  /**
   * Makes the open row durable against the end of this process; call it before dispatch.
   * @throws Error when the disk refuses it or the spool is full: the call must not be sent.
   */
  open(row: SpendRow): void {
    if (this.spool.bytes() > SPOOL_BYTES_MAX) throw new Error('Cannot keep the spend row: the spool is full');
    this.spool.append(row);
    this.arm();
  }

  /** Takes the closed row. Never throws: what the disk refuses stays in memory and goes with the next flush. */
  close(row: SpendRow): void {
    try {
      this.spool.append(row);
    } catch (cause) {
      this.unspooled.push(row);
      this.options.log.error({ callId: row.callId, cause: String(cause) }, 'Cannot spool a closed spend row');
    }
    this.arm();
  }

  /** Brings everything known now to the store; a failure is logged, and tried again later. */
  flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.drain());
    return this.flushing;
  }

  /** A last flush; what the store does not take stays in the spool for the next start. */
  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.flush();
    this.spool.seal();
  }

  private arm(): void {
    if (this.timer !== null || this.isStopped) return;
    const afterMs = Math.min(FLUSH_AFTER_MS * 2 ** this.failures, FLUSH_RETRY_MS_MAX);
    this.timer = setTimeout(() => {
      this.timer = null;
      void this.flush();
    }, afterMs);
    this.timer.unref();
  }

  private async drain(): Promise<void> {
    try {
      await this.drainWhile((segment) => segment.isLeftover);
      if (!this.hasInterruptedEarlier) await this.options.spend.interruptOpen(this.options.clock.now());
      this.hasInterruptedEarlier = true;
      await this.drainWhile(() => true);
      this.spool.seal();
      await this.drainWhile(() => true);
      await this.writeUnspooled();
      this.failures = 0;
    } catch (cause) {
      this.failures += 1;
      this.options.log.warn(
        { failures: this.failures, cause: String(cause) },
        'Cannot write spend rows: they stay in the spool',
      );
    }
    if (!this.spool.isEmpty() || this.unspooled.length > 0 || !this.hasInterruptedEarlier) this.arm();
  }

  private async drainWhile(isWanted: (segment: Segment) => boolean): Promise<void> {
    for (
      let segment = this.spool.oldest();
      segment !== null && isWanted(segment);
      segment = this.spool.oldest()
    ) {
      await this.write(rowsOf(segment));
      this.spool.dropOldest();
    }
  }

  private async writeUnspooled(): Promise<void> {
    const rows = [...this.unspooled];
    await this.write(rows);
    this.unspooled.splice(0, rows.length);
  }

  private async write(rows: readonly SpendRow[]): Promise<void> {
    for (let at = 0; at < rows.length; at += FLUSH_ROWS_MAX) {
      await this.options.spend.write(rows.slice(at, at + FLUSH_ROWS_MAX));
    }
  }
}
