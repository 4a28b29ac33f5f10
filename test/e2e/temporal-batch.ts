/**
 * A copy of the batch for an engine on Temporal: its gateway, its job with records, and its programs.
 * Owns what a user would set; the server is the test's.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import { openGateway, type BatchGateway } from './batch-gateway.ts';
import { namesIn } from './folder.ts';
import { withRecords } from './normalized-report.ts';
import { leftProcesses, type RunningProcess } from './process-list.ts';
import { startProgram, type RunningProgram } from './running-program.ts';

export interface Leftovers {
  readonly processes: readonly RunningProcess[];
  readonly folders: readonly string[];
}

export interface TemporalBatch {
  readonly copy: BatchCopy;
  readonly gateway: BatchGateway;
  /** `address` of the Temporal server; without one, the deployment names none. */
  start(args: readonly string[], address?: string): RunningProgram;
  /** A worker that serves. */
  startWorker(address: string): Promise<RunningProgram>;
  /** What is left of sandboxes once no worker runs any more. */
  left(): Promise<Leftovers>;
  close(): Promise<void>;
}

/** `env` is what its programs get besides the gateway. */
export async function openTemporalBatch(env: Readonly<Record<string, string>>): Promise<TemporalBatch> {
  const copy = copyBatch('none');
  const job = path.join(copy.example, 'job.yaml');
  writeFileSync(job, withRecords(readFileSync(job, 'utf8')));
  const gateway = await openGateway(copy);
  const start = (args: readonly string[], address?: string): RunningProgram => {
    const named = address === undefined ? {} : { TEMPORAL_ADDRESS: address };
    return startProgram(copy, 'bin/parley.js', args, { ...gateway.env, ...env, ...named });
  };
  return {
    copy,
    gateway,
    start,
    async startWorker(address) {
      const worker = start(['worker', '--engine', 'temporal'], address);
      if (await worker.says(/Ctrl-C ends it/)) return worker;
      throw new Error(`the worker ended: ${(await worker.ended).stderr}`);
    },
    async left() {
      const processes = await leftProcesses(copy.root, gateway.pid);
      return { processes, folders: namesIn(`${copy.dataDir}/sandboxes`) };
    },
    async close() {
      await gateway.stop();
      copy.close();
    },
  };
}
