/**
 * A run of the batch that a worker carries out, while the worker is killed and the Temporal server restarted.
 * Owns when that happens, and what is looked at afterwards; what must have come of it is for the test to say.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { mkdtempSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { removeDir } from '../helpers/temp-dir.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { keepAgentLogs } from './agent-logs.ts';
import { ledgerRows, sumOf } from './ledger.ts';
import { KEYS, Results, type Sums } from './results.ts';
import { runStatus, type ItemStatus } from './run-status.ts';
import type { ProgramEnd, RunningProgram } from './running-program.ts';
import { RandomStream } from '../../simulator/random.ts';
import { openTemporalBatch, type Leftovers, type TemporalBatch } from './temporal-batch.ts';
import { finishesOf, transcriptFacts, type TranscriptFacts } from './transcripts.ts';

const RUN_ID = 'first-batch-disturbed';

/** What the waiting command has said by then, and how long after at most. */
const DISTURBANCES = [
  { what: 'worker', after: /: (starting|working)/, delayMsMax: 900 },
  { what: 'server', after: /: (working|verifying)/, delayMsMax: 600 },
  { what: 'worker', after: /: (working|verifying)/, delayMsMax: 1_500 },
  { what: 'worker', after: /: (verifying|collecting|succeeded)/, delayMsMax: 500 },
  { what: 'worker', after: /run: (cleaning|settling|finished)/, delayMsMax: 300 },
] as const;

export interface Disturbed {
  /** `worker@412`, in order: what was ended, and milliseconds after the words that were waited for. */
  readonly told: readonly string[];
  readonly run: ProgramEnd;
  /** The last worker, which was asked to end. */
  readonly worker: ProgramEnd;
  readonly items: readonly ItemStatus[];
  readonly patches: readonly string[];
  readonly facts: readonly TranscriptFacts[];
  /** How often an agent said it was done, in all conversations there ever were. */
  readonly finishes: number;
  readonly sums: Sums;
  /** The gateway's own sum, in nano-USD. */
  readonly billed: bigint;
  readonly left: Leftovers;
}

/** `seed` null disturbs nothing. */
export async function disturbedRun(seed: number | null): Promise<Disturbed> {
  const batch = await openTemporalBatch({ PARLEY_ENGINE: 'temporal' });
  // Apart from the copy: what is left there is looked at while the server still runs.
  const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-server-'));
  const databaseFile = path.join(folder, 'server.db');
  const servers = [await startServerForTests({ databaseFile })];
  try {
    return await played(batch, { seed, servers, databaseFile });
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    await batch.close();
    removeDir(folder);
  }
}

interface Scene {
  readonly seed: number | null;
  /** The last one runs. */
  readonly servers: DevServer[];
  readonly databaseFile: string;
}

async function played(batch: TemporalBatch, { seed, servers, databaseFile }: Scene): Promise<Disturbed> {
  const { copy } = batch;
  const address = servers[0]?.address ?? '';
  const random = new RandomStream(seed ?? 0);
  const agents = keepAgentLogs(copy);
  let worker = await batch.startWorker(address);
  const run = batch.start(['run', 'job.yaml', '--run-id', RUN_ID], address);
  const told: string[] = [];
  for (const { what, after, delayMsMax } of seed === null ? [] : DISTURBANCES) {
    await run.says(after);
    const delayMs = Math.round(random.next() * delayMsMax);
    await pause(delayMs);
    told.push(`${what}@${delayMs}`);
    if (what === 'worker') worker = await replaced(batch, worker, address);
    else {
      await servers.at(-1)?.stop();
      servers.push(await startServerForTests({ databaseFile, port: Number(address.split(':')[1]) }));
    }
  }
  const end = await run.ended;
  process.kill(worker.pid, 'SIGTERM');
  const workerEnd = await worker.ended;
  const logs = agents.stop();
  const { items = [] } = (await runStatus(copy, RUN_ID)) ?? {};
  if (end.code !== 0) throw new Error(`[${told.join(', ')}] the run ended with ${end.code}: ${end.stderr}`);
  const results = new Results(copy, RUN_ID);
  return {
    told,
    run: end,
    worker: workerEnd,
    items,
    patches: KEYS.map((key) => results.patch(key)),
    facts: await transcriptFacts(results, items, logs),
    finishes: finishesOf(logs),
    sums: results.sums(),
    billed: sumOf(ledgerRows(copy)),
    left: await batch.left(),
  };
}

async function replaced(
  batch: TemporalBatch,
  worker: RunningProgram,
  address: string,
): Promise<RunningProgram> {
  worker.kill();
  await worker.ended;
  return await batch.startWorker(address);
}
