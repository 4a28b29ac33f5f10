/**
 * One run of the batch whose process is killed again and again, and resumed until it is finished.
 * Owns what a user would type after each kill; the expected result is for the test to say.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { keepAgentLogs, type AgentLog } from './agent-logs.ts';
import { copyBatch, type BatchCopy, type Isolation } from './batch-copy.ts';
import { openGateway, type BatchGateway } from './batch-gateway.ts';
import type { KillMoment } from './kill-plan.ts';
import { ledgerRows, sumOf } from './ledger.ts';
import { leftProcesses, type RunningProcess } from './process-list.ts';
import { KEYS, Results, type Key, type Sums } from './results.ts';
import { runStatus, type ItemStatus } from './run-status.ts';
import { startProgram, type ProgramEnd, type RunningProgram } from './running-program.ts';
import { finishesOf, transcriptFacts, type TranscriptFacts } from './transcripts.ts';
import { namesIn } from './folder.ts';

const RUN_ID = 'first-batch-killed';

/** A process that was killed. */
export interface Kill extends KillMoment {
  readonly command: 'run' | 'resume';
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

/** Runs, kills at each moment in turn, resumes to the end. `moments` may be empty: a run without a kill. */
export async function killedRun(isolation: Isolation, moments: readonly KillMoment[]): Promise<KilledRun> {
  const copy = copyBatch(isolation);
  try {
    const gateway = await openGateway(copy);
    const logs = keepAgentLogs(copy);
    const user = new User(copy, gateway);
    const kills: Kill[] = [];
    for (const moment of moments) kills.push(await killAt(user, moment));
    const end = await (await user.goOn()).program.ended;
    return await outcomeOf(copy, gateway, { kills, end, logs: logs.stop() });
  } finally {
    copy.close();
  }
}

async function killAt(user: User, moment: KillMoment): Promise<Kill> {
  const { program, command } = await user.goOn();
  if (moment.after !== null) await program.says(moment.after);
  await Promise.race([pause(moment.delayMs), program.ended]);
  program.kill();
  const { code } = await program.ended;
  if (code === null) return { ...moment, command };
  // The run was finished first: the resuming process is killed instead, as soon as it says so.
  if (code !== 0) throw new Error(`${command} ended with ${code} before ${moment.stage}`);
  return killAt(user, { stage: 'finished', after: /run: finished/, delayMs: 0 });
}

/** What a user types: a run that was accepted is resumed; before that, the same command again. */
class User {
  readonly #copy: BatchCopy;
  readonly #gateway: BatchGateway;
  #hasSeenRun = false;

  constructor(copy: BatchCopy, gateway: BatchGateway) {
    this.#copy = copy;
    this.#gateway = gateway;
  }

  async goOn(): Promise<{ readonly program: RunningProgram; readonly command: Kill['command'] }> {
    this.#hasSeenRun ||= (await runStatus(this.#copy, RUN_ID)) !== null;
    const args = this.#hasSeenRun ? ['resume', RUN_ID] : ['run', 'job.yaml', '--run-id', RUN_ID];
    const program = startProgram(this.#copy, 'bin/parley.js', args, this.#gateway.env);
    return { program, command: this.#hasSeenRun ? 'resume' : 'run' };
  }
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
  const left = await leftProcesses(copy.root, gateway.pid);
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
    leftProcesses: left,
    leftSandboxes: namesIn(`${copy.dataDir}/sandboxes`),
    sums: results.sums(),
    billed: sumOf(ledgerRows(copy)),
  };
}

/** The kills of a run in a line, for the reader of a failure. */
export function told(kills: readonly Kill[]): string {
  const words = kills.map(({ stage, delayMs, command }) => `${command}@${stage}+${delayMs}`);
  return `[${words.join(', ')}]`;
}
