/**
 * A copy of the example of 200 repositories for tests of running batches: as many repositories as the test needs, its
 * gateway, and its programs.
 * Owns what a user would set; which part of the job is run is for the test to say.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { copyBatch, type BatchCopy } from './batch-copy.ts';
import { runProgram, startProgram, type ProgramEnd, type RunningProgram } from './running-program.ts';
import { startScriptedGateway } from './scripted-gateway.ts';

const KEY = 'sk-upgrade';

/** Text of a file of the example, and what stands there instead. */
export type Edit = readonly [file: 'job.yaml' | 'parley.yaml' | 'gateway.yaml', from: string, to: string];

/** The command line of one installation, in the folder of the batch. */
export interface Programs {
  /** Starts the command line. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>): RunningProgram;
  /** Runs it to its end. */
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<ProgramEnd>;
}

/**
 * For runs that are killed in the middle of their calls: a gateway bills those, too, by an id that no run knows. Two
 * conversations may have one each in flight, of less than $0.001; a whole item costs $0.0035.
 */
export const CUT_CALLS: Edit = ['job.yaml', 'unmatched_usd: 0', 'unmatched_usd: 0.002'];

export interface UpgradeBatch extends Programs {
  readonly copy: BatchCopy;
  /** From now on it answers nothing: its callers wait. */
  freezeGateway(): void;
  /** Answers all that waits. */
  thawGateway(): void;
  /** Those of a package that is installed in this folder. */
  installedIn(root: string): Programs;
  close(): Promise<void>;
}

export interface UpgradeOptions {
  /** Repositories that are made: the first of the catalogue. */
  readonly repositories: number;
  readonly edits?: readonly Edit[];
  /** What its programs get besides. */
  readonly env?: Readonly<Record<string, string>>;
}

export async function openUpgradeBatch({
  repositories,
  edits = [],
  env = {},
}: UpgradeOptions): Promise<UpgradeBatch> {
  const copy = copyBatch('none', 'upgrade-200');
  for (const edit of edits) applyEdit(copy, edit);
  mkdirSync(copy.dataDir, { recursive: true });
  const making = ['repositories.js', path.join(copy.dataDir, 'repos'), String(repositories)];
  execFileSync(process.execPath, making, { cwd: copy.example, env: copy.env });
  const gateway = await startScriptedGateway(copy, KEY);
  const own = { ...gateway.env, ...env };
  const thawGateway = (): void => void process.kill(gateway.pid, 'SIGCONT');
  const programsIn = (root: string): Programs => ({
    start: (args, more = {}) => startProgram({ ...copy, root }, 'bin/parley.js', args, { ...own, ...more }),
    run: (args, more = {}) => runProgram({ ...copy, root }, 'bin/parley.js', args, { ...own, ...more }),
  });
  return {
    ...programsIn(copy.root),
    copy,
    installedIn: programsIn,
    freezeGateway: () => void process.kill(gateway.pid, 'SIGSTOP'),
    thawGateway,
    async close() {
      // A frozen process ends when it goes on.
      thawGateway();
      await gateway.stop();
      copy.close();
    },
  };
}

function applyEdit({ example }: BatchCopy, [name, from, to]: Edit): void {
  const file = path.join(example, name);
  const before = readFileSync(file, 'utf8');
  if (!before.includes(from)) throw new Error(`${name} does not say "${from}"`);
  writeFileSync(file, before.replace(from, to));
}

/** Records of a command with `--json`, without the first. */
export function recordsIn(stdout: string): readonly Readonly<Record<string, unknown>>[] {
  const lines = stdout.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>).slice(1);
}
