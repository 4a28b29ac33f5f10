/**
 * One run of the batch whose process is killed again and again, and resumed until it is finished.
 * Owns what a user would type after each kill; what must have come of it is for the test to say.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { keepAgentLogs, type AgentLog } from './agent-logs.ts';
import { copyBatch, type BatchCopy, type Isolation } from './batch-copy.ts';
import { openGateway, type BatchGateway } from './batch-gateway.ts';
import type { KillMoment } from './kill-plan.ts';
import { ledgerRows, sumOf } from './ledger.ts';
import { processesOf, type RunningProcess } from './process-list.ts';
import { KEYS, Results, type Key, type Sums } from './results.ts';
import { runStatus, type ItemStatus } from './run-status.ts';
import { startProgram, type ProgramEnd, type RunningProgram } from './running-program.ts';
import { finishesOf, transcriptFacts, type TranscriptFacts } from './transcripts.ts';
import { namesIn } from './folder.ts';

const RUN_ID = 'first-batch-killed';

/** How a moment turned out. */
export interface Kill extends KillMoment {
  readonly command: 'run' | 'resume';
  /** False when the process had ended before. */
  readonly landed: boolean;
}

export interface KilledRun {
  readonly kills: readonly Kill[];
  readonly end: ProgramEnd;
  readonly items: readonly ItemStatus[];
  readonly patches: Readonly<Record<Key, string>>;
  readonly facts: readonly TranscriptFacts[];
  /** How often an agent said it was done, in all conversations there ever were. */
  readonly finishes: number;
  readonly leftProcesses: readonly RunningProcess[];
  readonly leftSandboxes: readonly string[];
  readonly sums: Sums;
  /** The gateway's own sum, in nano-USD. */
  readonly billed: bigint;
}

/** Runs, kills at each moment in turn, resumes to the end. `moments` may be empty: a run that nobody kills. */
export async function killedRun(isolation: Isolation, moments: readonly KillMoment[]): Promise<KilledRun> {
  const copy = copyBatch(isolation);
  try {
    const gateway = await openGateway(copy);
    const logs = keepAgentLogs(copy);
    const kills: Kill[] = [];
    for (const moment of moments) kills.push(await killAt(copy, gateway, moment));
    const end = await (await goOn(copy, gateway)).program.ended;
    return await outcomeOf(copy, gateway, { kills, end, logs: logs.stop() });
  } finally {
    copy.close();
  }
}

async function killAt(copy: BatchCopy, gateway: BatchGateway, moment: KillMoment): Promise<Kill> {
  const { program, command } = await goOn(copy, gateway);
  if (moment.after !== null) await program.says(moment.after);
  await Promise.race([pause(moment.delayMs), program.ended]);
  program.kill();
  const { code } = await program.ended;
  return { ...moment, command, landed: code === null };
}

/** A run that was accepted is resumed; before that, the same command is typed again. */
async function goOn(
  copy: BatchCopy,
  gateway: BatchGateway,
): Promise<{ readonly program: RunningProgram; readonly command: 'run' | 'resume' }> {
  const isAccepted = (await runStatus(copy, RUN_ID)) !== null;
  const args = isAccepted ? ['resume', RUN_ID] : ['run', 'job.yaml', '--run-id', RUN_ID];
  const program = startProgram(copy, 'bin/parley.js', args, gateway.env);
  return { program, command: isAccepted ? 'resume' : 'run' };
}

async function outcomeOf(
  copy: BatchCopy,
  gateway: BatchGateway,
  {
    kills,
    end,
    logs,
  }: { readonly kills: readonly Kill[]; readonly end: ProgramEnd; readonly logs: readonly AgentLog[] },
): Promise<KilledRun> {
  const leftProcesses = processesOf(copy.root).filter(({ pid }) => pid !== gateway.pid);
  const status = await runStatus(copy, RUN_ID);
  if (status === null || end.code !== 0)
    throw new Error(`${told(kills)} the run ended with ${end.code}: ${end.stderr}`);
  const results = new Results(copy, RUN_ID);
  return {
    kills,
    end,
    items: status.items,
    patches: Object.fromEntries(KEYS.map((key) => [key, results.patch(key)])) as Record<Key, string>,
    facts: await transcriptFacts(results, status.items, logs),
    finishes: finishesOf(logs),
    leftProcesses,
    leftSandboxes: namesIn(`${copy.dataDir}/sandboxes`),
    sums: results.sums(),
    billed: sumOf(ledgerRows(copy)),
  };
}

/** The kills of a run in a line, for whoever reads a failure. */
export function told(kills: readonly Kill[]): string {
  const words = kills.map(
    ({ stage, delayMs, command, landed }) => `${command}@${stage}+${delayMs}${landed ? '' : ' (missed)'}`,
  );
  return `[${words.join(', ')}]`;
}
