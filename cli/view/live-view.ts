/**
 * A run as a table that is drawn over itself on standard error.
 * Owns when a frame is drawn and what it asks for; the frame itself is drawn in live-table.ts.
 */
import { createLogUpdate } from 'log-update';
import type { SandboxId } from '../../core/ids.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import { SECOND_MS } from '../../core/time.ts';
import type { Timer } from '../../ports/clock.ts';
import type { Shell } from '../../host/shell.ts';
import { drawTable } from './live-table.ts';
import type { RunView } from './run-view.ts';

/** Eight frames a second: more is not seen. */
const FRAME_MS = 125;
/** Elapsed and idle times grow by the second. */
const TICK_MS = SECOND_MS;
/** Sandboxes asked for their last activity in one tick: what a terminal can show. */
const ASKED_MAX = 100;
const COLUMNS_DEFAULT = 80;
const ROWS_DEFAULT = 24;

interface LiveOptions {
  readonly shell: Pick<Shell, 'clock' | 'stdout' | 'stderr' | 'env'>;
  lastActivityAt(sandboxId: SandboxId): Promise<number | null>;
}

export function liveView(options: LiveOptions): RunView {
  return new LiveView(options);
}

class LiveView implements RunView {
  private readonly options: LiveOptions;
  private readonly update: ReturnType<typeof createLogUpdate>;
  private readonly activity = new Map<string, number>();
  private current: { readonly row: RunRow; readonly items: readonly RunItemRow[] } | null = null;
  private lastNotice: string | null = null;
  private frame: Timer | null = null;
  private tick: Timer;
  private closed = false;

  constructor(options: LiveOptions) {
    this.options = options;
    const stream = options.shell.stderr as unknown as NodeJS.WritableStream;
    this.update = createLogUpdate(stream, { showCursor: true });
    this.tick = this.nextTick();
  }

  launched(launch: { readonly runId: string }): void {
    this.options.shell.stdout.write(`run ${launch.runId}\n`);
  }

  notice(text: string): void {
    this.lastNotice = text;
    this.schedule();
  }

  changed(row: RunRow, items: readonly RunItemRow[]): void {
    this.current = { row, items };
    this.schedule();
  }

  close(): void {
    if (this.closed) return;
    this.closed = true;
    this.frame?.cancel();
    this.tick.cancel();
    this.update.clear();
    this.update.done();
  }

  private schedule(): void {
    const { clock } = this.options.shell;
    if (this.closed || this.frame !== null) return;
    this.frame = clock.setTimer(clock.now() + FRAME_MS, () => {
      this.frame = null;
      this.draw();
    });
  }

  private draw(): void {
    const { stderr, env, clock } = this.options.shell;
    if (this.closed || this.current === null) return;
    const text = drawTable({
      ...this.current,
      activity: this.activity,
      notice: this.lastNotice,
      now: clock.now(),
      columns: stderr.columns ?? COLUMNS_DEFAULT,
      rows: stderr.rows ?? ROWS_DEFAULT,
      color: !env['NO_COLOR'],
    });
    this.update(text);
  }

  private nextTick(): Timer {
    const { clock } = this.options.shell;
    return clock.setTimer(clock.now() + TICK_MS, () => {
      void this.ask().finally(() => {
        if (this.closed) return;
        this.draw();
        this.tick = this.nextTick();
      });
    });
  }

  /** An answer that does not come leaves the column as it was: it is a hint. */
  private async ask(): Promise<void> {
    const ids = (this.current?.items ?? []).flatMap((item) =>
      item.phase !== 'ended' && item.sandboxId !== null ? [item.sandboxId] : [],
    );
    for (const id of [...new Set(ids)].slice(0, ASKED_MAX)) {
      const at = await this.options.lastActivityAt(id).catch(() => null);
      if (at !== null) this.activity.set(id, at);
    }
  }
}
