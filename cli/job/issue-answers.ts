/**
 * What code hosts answer to the questions of a job, before its plan is made.
 * Owns that a run keeps the answer it began with, and that an issue with a result is not taken again.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { RunId } from '../../core/ids.ts';
import { isSameQuery, type IssueRow, type PlanIssues } from '../../core/plan/plan-issue.ts';
import type { AskedIssues, IssuesRead, JobWorld } from '../../dsl/world.ts';
import { counted } from '../../core/text/counted.ts';
import type { DeploymentConfig } from '../../host/config/deployment-config.ts';
import { loadDeployment } from '../../host/config/load-deployment.ts';
import { openStored } from '../../host/open-deployment.ts';
import type { Shell } from '../../host/shell.ts';

export interface IssueOptions {
  /** Value of `--config`. */
  readonly config: string | undefined;
  /** Whether issues that a run of the job has a result of are taken once more. */
  readonly again: boolean;
  /** The answers that a run has; they count before anything that a host says now. */
  readonly kept: readonly PlanIssues[];
}

export type ReadIssues = NonNullable<JobWorld['readIssues']>;

/** Each query is sent once; messages for people go to standard error. */
export async function issueAnswers(
  shell: Shell,
  questions: readonly AskedIssues[],
  options: IssueOptions,
): Promise<ReadIssues> {
  const answers: { readonly asked: AskedIssues; readonly read: IssuesRead }[] = [];
  let desk: Desk | null = null;
  for (const asked of questions) {
    const kept = options.kept.find((one) => isSameQuery(one, asked));
    desk ??= kept === undefined ? await openDesk(shell, options) : null;
    const read = kept === undefined ? await answer(shell, asked, desk) : { rows: kept.rows, doneCount: 0 };
    answers.push({ asked, read });
  }
  return (asked) => answers.find((one) => isSameQuery(one.asked, asked))?.read ?? 'pending';
}

interface Desk {
  readonly config: DeploymentConfig;
  /** Of each issue that a run of this job has a result of: a word for it, and the run. */
  done(job: string): Promise<ReadonlyMap<string, string>>;
}

/** Null when the configuration has errors. */
async function openDesk(shell: Shell, { config: path, again }: IssueOptions): Promise<Desk | null> {
  const { cwd, env } = shell;
  const { config } = await loadDeployment({ path: path ?? null, cwd, env });
  if (config === null) return null;
  return { config, done: async (job) => (again ? new Map() : await doneIssues(shell, config, job)) };
}

async function answer(shell: Shell, asked: AskedIssues, desk: Desk | null): Promise<IssuesRead> {
  if (desk === null)
    return { problem: 'the configuration has errors', remedy: 'look with "parley config check"' };
  const { readIssuesOf } = await import('../../host/job/issue-reader.ts');
  const say = (words: string): void => void shell.stderr.write(`${words}\n`);
  const read = await readIssuesOf(desk.config, asked, { env: shell.env, say });
  if ('problem' in read) return read;
  const done = await desk.done(asked.job);
  const isDone = ({ number }: IssueRow): boolean => done.has(wordFor({ ...asked, number }));
  const left = read.rows.filter(isDone);
  if (left.length > 0) {
    const [first, ...others] = left.map(({ number }) => `#${number}`);
    const more = others.length === 0 ? '' : ` and ${others.length} more`;
    const run = done.get(wordFor({ ...asked, number: left[0]?.number ?? 0 })) ?? '';
    say(
      `left out: ${counted(left.length, 'issue')} of ${asked.repository} with a result, ${first ?? ''}${more}, such as in run ${run}; --again takes them once more`,
    );
  }
  return { rows: read.rows.filter((row) => !isDone(row)), doneCount: left.length };
}

function wordFor(
  of: Pick<AskedIssues, 'entry' | 'host' | 'repository'> & { readonly number: number },
): string {
  return JSON.stringify([of.entry, of.host, of.repository, of.number]);
}

/** Older runs are history: a user who wants them kept apart names another job. */
const RUNS_READ_MAX = 500;

async function doneIssues(
  shell: Shell,
  config: DeploymentConfig,
  job: string,
): Promise<ReadonlyMap<string, string>> {
  const done = new Map<string, string>();
  const reader = await openStored(shell, config);
  if (reader === null) return done;
  try {
    const runs = (await reader.runs()).filter(({ name }) => name === job).slice(0, RUNS_READ_MAX);
    for (const { runId } of runs) {
      const plan = await reader.plan(runId);
      if (plan?.issues === undefined) continue;
      const rows = await reader.runItems(runId);
      const succeeded = new Set(rows.flatMap(({ key, outcome }) => (outcome === 'succeeded' ? [key] : [])));
      for (const { key, entry, issue } of plan.items)
        if (issue !== undefined && succeeded.has(key) && !done.has(wordFor({ entry, ...issue })))
          done.set(wordFor({ entry, ...issue }), runId);
    }
    return done;
  } finally {
    await reader.close();
  }
}

/** The answers that a run of this id has, or is to have because another process has queried them; else none. */
export async function keptIssues(
  shell: Shell,
  config: DeploymentConfig,
  runId: Parameters<NonNullable<Awaited<ReturnType<typeof openStored>>>['plan']>[0],
): Promise<readonly PlanIssues[]> {
  const reader = await openStored(shell, config);
  if (reader === null) return handedIssues(config.dataDir, runId);
  try {
    if ((await reader.run(runId)) === null) return handedIssues(config.dataDir, runId);
    return (await reader.plan(runId))?.issues ?? [];
  } finally {
    await reader.close();
  }
}

/** Issues of a private repository are for the owner alone. */
const OWNER_ONLY = { mode: 0o600 } as const;

function fileOf(dataDir: string, runId: RunId): string {
  return path.join(dataDir, 'detached', `${runId}.issues.json`);
}

/** Nothing is written for a run without issues. */
export function handIssues(dataDir: string, runId: RunId, issues: readonly PlanIssues[]): void {
  if (issues.length === 0) return;
  const file = fileOf(dataDir, runId);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(issues), OWNER_ONLY);
}

/** None when no process has left any. */
function handedIssues(dataDir: string, runId: RunId): readonly PlanIssues[] {
  const file = fileOf(dataDir, runId);
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PlanIssues[]) : [];
}

export function dropHandedIssues(dataDir: string, runId: RunId): void {
  rmSync(fileOf(dataDir, runId), { force: true });
}
