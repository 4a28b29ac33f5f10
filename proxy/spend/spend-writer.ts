/**
 * Takes spend rows off the hot path and brings them to the store (D26).
 * Owns the order spool, then store, then forget; must not change a row.
 * A row is never lost: it is on disk before it counts, and its segment is removed only after the store has it.
 * It is never counted twice: the store takes rows by `callId`.
 */
import { nanoUsd } from '../../core/money/money.ts';
import type { SpendLoss } from '../../core/money/spend-loss.ts';
import type { SpendRow } from '../../core/money/spend.ts';
import type { SpendLog } from '../../ports/spend-log.ts';
import { FLUSH_AFTER_MS, FLUSH_RETRY_MS_MAX, FLUSH_ROWS_MAX, SPOOL_BYTES_MAX } from '../limits.ts';
import type { ProxyLog } from '../log.ts';
import { rowsOf, SpendSpool, type Segment } from './spend-spool.ts';

export interface SpendWriterOptions {
  readonly spend: SpendLog;
  readonly spoolDir: string;
  readonly clock: { now(): number };
  readonly log: ProxyLog;
  /** Called every turn: whether a row must be in the store, too, before its call is sent; absent: never. */
  readonly isCommittedFirst?: () => boolean;
  /** The store lacked calls that it had had, and has them again; called once, at the start. */
  readonly onLost?: (lost: SpendLoss) => void;
}

export class SpendWriter {
  private readonly options: SpendWriterOptions;
  private readonly spool: SpendSpool;
  private timer: NodeJS.Timeout | null = null;
  private flushing: Promise<void> = Promise.resolve();
  private failures = 0;
  /** Rows of this process wait for it, because marking the open rows of an earlier process must not affect them. */
  private hasInterruptedEarlier = false;
  private isStopped = false;
  /** Closing rows the disk refused; they go with the next flush. */
  private readonly unspooled: SpendRow[] = [];
  /** Rows of this turn of the event loop, and the callbacks that wait for them to be on disk. */
  private turn: SpendRow[] = [];
  private waiting: ((refused: Error | null) => void)[] = [];
  private isTurnPlanned = false;
  /** Found missing at the start, until the store has it again: a partial recovery still counts as one loss. */
  private lost: { readonly rows: readonly SpendRow[]; readonly loss: SpendLoss | null } | null = null;

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
   * Makes the open row durable against the end of this process, in one write with all others of this turn of the
   * event loop; then calls `kept`, at the end of that turn at the latest. Send the call only then, and not at all
   * when `kept` gets an error.
   */
  open(row: SpendRow, kept: (refused: Error | null) => void): void {
    if (this.spool.bytes() > SPOOL_BYTES_MAX) {
      kept(new Error('Cannot keep the spend row: the spool is full'));
      return;
    }
    this.take(row, kept);
  }

  /** Takes the closed row. Never throws: a row that the disk refuses is kept aside for the next flush. */
  close(row: SpendRow): void {
    this.take(row, null);
  }

  /** Writes all rows known now to the store; after a failure it logs, and tries again later. */
  flush(): Promise<void> {
    this.flushing = this.flushing.then(() => this.drain());
    return this.flushing;
  }

  /** A last flush; what the store does not take stays in the spool for the next start. */
  async stop(): Promise<void> {
    this.isStopped = true;
    if (this.timer !== null) clearTimeout(this.timer);
    await this.flush();
    this.sync();
    this.spool.seal();
  }

  private take(row: SpendRow, kept: ((refused: Error | null) => void) | null): void {
    this.turn.push(row);
    if (kept !== null) this.waiting.push(kept);
    if (this.isTurnPlanned) return;
    this.isTurnPlanned = true;
    setImmediate(() => {
      this.isTurnPlanned = false;
      this.sync();
    });
  }

  /** Writes the rows of this turn of the event loop, and releases the calls that waited for it. */
  private sync(): void {
    if (this.turn.length === 0) return;
    const [rows, waiting] = [this.turn, this.waiting];
    this.turn = [];
    this.waiting = [];
    let refused: Error | null = null;
    try {
      this.spool.append(rows);
    } catch (cause) {
      refused = cause instanceof Error ? cause : new Error(String(cause));
      const closed = rows.filter((row) => row.state !== 'open');
      this.unspooled.push(...closed);
      if (closed.length > 0 && !this.spool.keepAside(closed))
        this.options.log.error({ rows: closed.length }, 'Cannot keep closed spend rows but in memory');
      this.options.log.error({ rows: rows.length, cause: String(cause) }, 'Cannot spool spend rows');
    }
    this.arm();
    if (refused === null && waiting.length > 0 && this.options.isCommittedFirst?.() === true)
      void this.commit(rows, waiting);
    else for (const kept of waiting) kept(refused);
  }

  /** A call whose row the store does not take is not sent, and its row is closed as aborted. */
  private async commit(
    rows: readonly SpendRow[],
    waiting: readonly ((refused: Error | null) => void)[],
  ): Promise<void> {
    const opened = rows.filter(({ state }) => state === 'open');
    let refused: Error | null = null;
    try {
      await this.options.spend.write(opened);
    } catch (cause) {
      refused = cause instanceof Error ? cause : new Error(String(cause));
      for (const row of opened)
        this.close({ ...row, state: 'aborted', endedAt: this.options.clock.now(), held: nanoUsd(0) });
    }
    for (const kept of waiting) kept(refused);
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
    this.sync();
    try {
      await this.drainWhile((segment) => segment.isLeftover);
      if (!this.hasInterruptedEarlier) await this.bringBack();
      if (!this.hasInterruptedEarlier) await this.options.spend.interruptOpen(this.options.clock.now());
      this.hasInterruptedEarlier = true;
      await this.drainWhile(() => true);
      this.sync();
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
      const rows = rowsOf(segment);
      await this.write(rows);
      this.spool.dropOldest(rows);
    }
  }

  /** Rows that were confirmed to an earlier process and are gone: the database lost its log, or is an older copy. */
  private async bringBack(): Promise<void> {
    this.lost ??= await this.findLost();
    const { rows, loss } = this.lost;
    if (loss !== null) {
      // First, because once the rows are back, nothing shows that they were gone.
      await this.options.spend.noteLoss(loss);
      await this.write(rows);
      this.options.log.error({ ...loss }, 'The store had lost spend rows: they are back');
      this.options.onLost?.(loss);
    }
    this.spool.kept.forgetEarlier();
    this.lost = null;
  }

  private async findLost(): Promise<NonNullable<SpendWriter['lost']>> {
    const { rows: kept, hadMore } = this.spool.kept.earlier;
    const latest = new Map(kept.map((row) => [row.callId, row]));
    const missing = new Set(await this.options.spend.missing([...latest.keys()]));
    const rows = [...latest.values()].filter((row) => missing.has(row.callId));
    const [oldest = ''] = latest.keys();
    const seenAt = this.options.clock.now();
    return { rows, loss: lossOf(rows, { seenAt, mayBeMore: hadMore && missing.has(oldest) }) };
  }

  /** Called before old rows are folded into totals: their kept copies must not count as missing in the store. */
  forgetBefore(startedBefore: number): void {
    this.spool.kept.forgetBefore(startedBefore);
  }

  private async writeUnspooled(): Promise<void> {
    const rows = [...this.unspooled];
    if (rows.length === 0) return;
    await this.write(rows);
    this.unspooled.splice(0, rows.length);
    if (this.unspooled.length === 0) this.spool.freeAside();
  }

  /** In short pieces with turns of the event loop between them: a store may write in this thread. */
  private async write(rows: readonly SpendRow[]): Promise<void> {
    for (let at = 0; at < rows.length; at += FLUSH_ROWS_MAX) {
      if (at > 0) await new Promise((resolve) => setImmediate(resolve));
      await this.options.spend.write(rows.slice(at, at + FLUSH_ROWS_MAX));
    }
  }
}

function lossOf(rows: readonly SpendRow[], seen: Pick<SpendLoss, 'seenAt' | 'mayBeMore'>): SpendLoss | null {
  if (rows.length === 0) return null;
  return {
    calls: rows.length,
    costNanoUsd: nanoUsd(rows.reduce((sum, { cost }) => sum + (cost ?? 0), 0)),
    from: rows.reduce((first, { startedAt }) => Math.min(first, startedAt), Infinity),
    to: rows.reduce((last, { startedAt }) => Math.max(last, startedAt), -Infinity),
    ...seen,
  };
}
