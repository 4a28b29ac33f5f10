/**
 * One real run that a person steers from another terminal with `parley ctl`, step by step, to its end.
 * Owns the steps and the waiting for what each brings about, as the store shows it; what must have come of it is for
 * the tests to say.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { runId as asRunId } from '../../core/ids.ts';
import type { RunItemRow, RunRow } from '../../core/machine/projection.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import type { ProgramEnd, RunningProgram } from './running-program.ts';
import type { UpgradeBatch } from './upgrade-batch.ts';

const POLL_MS = 25;
/** Generous: a loaded machine is slow, and what never comes is the failure. */
const EFFECT_MS_MAX = 180_000;

export interface Step {
  readonly action: string;
  /** From the end of the command to its effect in the store, in milliseconds; printed, never asserted. */
  readonly tookMs: number;
  readonly end: ProgramEnd;
  readonly row: RunRow;
  readonly items: readonly RunItemRow[];
}

interface Rows {
  readonly row: RunRow;
  readonly items: readonly RunItemRow[];
}

export class SteeredRun {
  readonly steps: Step[] = [];
  readonly #batch: UpgradeBatch;
  readonly #runId: string;
  #store: Store | null = null;

  constructor(batch: UpgradeBatch, runId: string) {
    this.#batch = batch;
    this.#runId = runId;
  }

  async begin(args: readonly string[]): Promise<RunningProgram> {
    const program = this.#batch.start(['run', 'job.yaml', '--plain', '--run-id', this.#runId, ...args]);
    if (!(await program.says(/: working/))) throw new Error(`the run ended: ${(await program.ended).stderr}`);
    this.#store = await openStore({ kind: 'sqlite', path: `${this.#batch.copy.dataDir}/parley.db` });
    return program;
  }

  async rows(): Promise<Rows> {
    if (this.#store === null) throw new Error('the run has not begun');
    const { records } = this.#store;
    const row = await records.run(asRunId(this.#runId));
    if (row === null) throw new Error('there is no run');
    return { row, items: await records.runItems(asRunId(this.#runId)) };
  }

  /** Waits for rows that fit. */
  async until(what: string, fits: (rows: Rows) => boolean): Promise<Rows> {
    const since = Date.now();
    for (;;) {
      const rows = await this.rows();
      if (fits(rows)) return rows;
      if (Date.now() > since + EFFECT_MS_MAX)
        throw new Error(`${what}: not after ${EFFECT_MS_MAX} ms, the run is ${JSON.stringify(rows.row)}`);
      await pause(POLL_MS);
    }
  }

  /** `parley ctl RUN …`, then waits for its effect. */
  async ctl(
    words: readonly string[],
    fits: (rows: Rows) => boolean,
    env: Readonly<Record<string, string>> = {},
  ): Promise<Step> {
    const action = words.join(' ');
    const end = await this.#batch.run(['ctl', this.#runId, ...words], env);
    if (end.code !== 0) throw new Error(`ctl ${action} ended with ${end.code}: ${end.stderr}`);
    const toldAt = Date.now();
    const rows = await this.until(action, fits);
    const step = { action, tookMs: Date.now() - toldAt, end, ...rows };
    this.steps.push(step);
    return step;
  }

  resume(args: readonly string[] = []): Promise<ProgramEnd> {
    return this.#batch.run(['resume', this.#runId, '--json', ...args]);
  }

  async close(): Promise<void> {
    await this.#store?.close();
  }

  /** For people who read the log of the tests. */
  times(): string {
    return this.steps.map(({ action, tookMs }) => `${action} ${tookMs} ms`).join(', ');
  }
}

export function itemOf({ items }: Pick<Rows, 'items'>, key: string): RunItemRow {
  const item = items.find((one) => one.key === key);
  if (item === undefined) throw new Error(`there is no item "${key}"`);
  return item;
}
