/**
 * One engine over one new database file, and the meters on it.
 * Owns opening, closing and counting; what is asked of the engine is a load's business.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { activitiesOf } from '../../activities/registry.ts';
import type { StepRecord } from '../../engine/batch.ts';
import { Engine } from '../../engine/engine.ts';
import { systemClock } from '../../engine/system-clock.ts';
import type { Notifier } from '../../ports/notifier.ts';
import { openStore, type Store } from '../../store/open-store.ts';
import { instantWorld } from '../instant-world.ts';

export interface InstallationOptions {
  /** Folder that the database's own folder is made in: its disk is what is measured. */
  readonly dir: string;
  /** False: the engine commits every event alone, and the store every write, for comparison. */
  readonly grouped: boolean;
  readonly onStep: (record: StepRecord) => void;
}

export interface Installation {
  readonly engine: Engine;
  readonly store: Store;
  /** Starts the meters anew. */
  begin(): void;
  /** What they read since `begin`. */
  read(): Reading;
  close(): Promise<void>;
}

export interface Reading {
  readonly seconds: number;
  /** User and system time of the whole process. */
  readonly cpuMs: number;
  /** Every commit of the database: the engine's and those of activities. */
  readonly commits: number;
  readonly events: number;
}

export async function openInstallation({ dir, grouped, onStep }: InstallationOptions): Promise<Installation> {
  const folder = mkdtempSync(join(dir, 'parley-bench-'));
  const count = { commits: 0, events: 0 };
  const store = await openStore({
    kind: 'sqlite',
    path: join(folder, 'bench.db'),
    groupWrites: grouped,
    onCommit: () => void (count.commits += 1),
  });
  const late: { notifier: Notifier | null } = { notifier: null };
  const notifier: Notifier = {
    deliver: (delivery) => late.notifier?.deliver(delivery) ?? Promise.reject(new Error('not yet')),
  };
  const engine = new Engine({
    store: store.engine,
    activities: activitiesOf(instantWorld({ store, clock: systemClock, notifier })),
    clock: systemClock,
    ...(grouped ? {} : { batchEventsMax: 1 }),
    onStep,
    onCommit: (events) => void (count.events += events),
    onActivityError: (command, error) => {
      throw new Error(`${command.type}: ${error.message}`, { cause: error });
    },
  });
  late.notifier = engine;
  await engine.start();
  const from = { at: process.hrtime.bigint(), cpu: process.cpuUsage() };
  return {
    engine,
    store,
    begin() {
      Object.assign(from, { at: process.hrtime.bigint(), cpu: process.cpuUsage() });
      Object.assign(count, { commits: 0, events: 0 });
    },
    read() {
      const seconds = Number(process.hrtime.bigint() - from.at) / 1e9;
      const { user, system } = process.cpuUsage(from.cpu);
      return { seconds, cpuMs: (user + system) / 1_000, ...count };
    },
    async close() {
      await engine.stop();
      await store.close();
      rmSync(folder, { recursive: true });
    },
  };
}
