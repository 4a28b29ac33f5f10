/**
 * Watching a run until it is finished, rests, or the user leaves: shared by run, resume and cancel.
 * Owns Ctrl-C (once drains, twice leaves), the end of the output, and the exit code; must not start a run.
 */
import { appendFileSync, statSync } from 'node:fs';
import type { RunId } from '../core/ids.ts';
import type { Plan } from '../core/plan/plan.ts';
import { isAwaiting } from '../core/plan/known-items.ts';
import type { RunItemRow, RunRow } from '../core/machine/projection.ts';
import { SECOND_MS } from '../core/time.ts';
import { reasonOf } from '../host/job/job-file.ts';
import { readDeliveries, readEvidence } from './run-results.ts';
import { EXIT, type ExitCode, exitCodeOfRun } from '../host/exit-code.ts';
import type { Host, Reader } from '../host/host-port.ts';
import { deliveryCounts, pullRequestRecords } from './print/deliveries.ts';
import { runRecord } from '../host/records.ts';
import { printable } from '../host/terminal-text.ts';
import { type RunResult, runSummary } from './print/run-summary.ts';
import { calledAs, type Shell } from '../host/shell.ts';
import { sleep } from '../runtimes/on-host/wait.ts';
import { awaitingWords, type StagedRows } from './job/staged-rows.ts';
import type { RunView } from './view/run-view.ts';

export interface RunSession {
  readonly shell: Shell;
  readonly host: Host;
  readonly runId: RunId;
  readonly plan: Plan | null;
  /** Takes up what an earlier stage writes; absent where this process has no job. */
  readonly staged?: StagedRows | undefined;
  readonly view: RunView;
  readonly json: boolean;
}

/** A host that does not end in this time is left: what it holds is durable. */
const CLOSE_MS = 10 * SECOND_MS;

/** Waits, prints the result to standard output, closes view and host, and returns the exit code. */
export async function attend(session: RunSession): Promise<ExitCode> {
  const { shell, host, view } = session;
  let row: RunRow | null;
  let goesOn: boolean;
  try {
    row = await waitOrLeave(session);
    goesOn = host.goesOn?.() ?? false;
    if (row !== null) await printResult(session, row);
  } finally {
    view.close();
    await Promise.race([host.close(), sleep(shell.clock, CLOSE_MS)]);
  }
  if (row !== null) return exitCodeOfRun(row, planOf(session));
  const left = goesOn
    ? `left ${session.runId}, which goes on in another process; look with: ${calledAs(shell)} watch ${session.runId}`
    : `left ${session.runId} as it stands; go on with: ${calledAs(shell)} resume ${session.runId}`;
  shell.stderr.write(`${left}\n`);
  return EXIT.interrupted;
}

/** As it grew meanwhile. */
function planOf({ staged, plan }: RunSession): Plan | null {
  return staged?.plan ?? plan;
}

/** What was ready before this process began to watch. */
async function lookForRows({ shell, host, runId, plan, staged, view }: RunSession): Promise<void> {
  if (plan?.items.some(isAwaiting) !== true) return;
  const rows = await host.runItems(runId);
  if (staged !== undefined) return staged.changed(rows);
  const resume = `${calledAs(shell)} resume ${runId}`;
  for (const words of awaitingWords(plan, rows, resume)) view.notice(words);
}

/** Null when the user left. */
async function waitOrLeave(session: RunSession): Promise<RunRow | null> {
  const { shell, host, runId, view } = session;
  const leave = new AbortController();
  let interrupts = 0;
  const stopListening = shell.onInterrupt((signal) => {
    interrupts += 1;
    if (signal !== 'SIGINT' || interrupts > 1) return leave.abort();
    view.notice('draining: nothing new starts; press Ctrl-C again to leave the run as it is');
    const requestId = `drain-${shell.randomHex(16)}`;
    host.tellRun(runId, { type: 'drainRequested', requestId }).catch((error: unknown) => {
      view.notice(`Cannot drain the run: ${error instanceof Error ? error.message : String(error)}`);
    });
  });
  const left = new Promise<null>((resolve) => leave.signal.addEventListener('abort', () => resolve(null)));
  try {
    const changed = (row: RunRow, items: readonly RunItemRow[]): void => {
      view.changed(row, items);
      session.staged?.changed(items);
    };
    await lookForRows(session);
    const waited = host.waitForRun(runId, changed, leave.signal);
    // After the user left, how the wait ends does not matter.
    waited.catch(() => undefined);
    return await Promise.race([waited, left]);
  } finally {
    stopListening();
  }
}

/** All that is reported of a run as it stands. */
export async function runResult(
  { env }: Pick<Shell, 'env'>,
  reader: Reader,
  row: RunRow,
): Promise<RunResult> {
  const { runId } = row;
  const { results } = reader;
  const items = await reader.runItems(runId);
  const plan = await reader.plan(runId);
  const deliveries = await readDeliveries(plan, { results, runId });
  const evidence = await readEvidence(items, results);
  const next = nextCommand(row, plan, { env });
  return { row, items, plan, results: results.location(runId), deliveries, evidence, next };
}

async function printResult(session: RunSession, row: RunRow): Promise<void> {
  const { shell, host, runId, view, json } = session;
  const plan = planOf(session);
  const items = await host.runItems(runId);
  view.changed(row, items);
  view.close();
  const next = nextCommand(row, plan, shell);
  const result = { row, items, plan, ...(await resultsOf(session, { row, plan, items })), next };
  if (json) shell.stdout.write(`${JSON.stringify(doneRecord(result))}\n`);
  else shell.stdout.write(`\n${runSummary(result)}`);
  const problem = await writeStepSummary(shell, host, row);
  if (problem !== null) shell.stderr.write(`${printable(problem)}\n`);
}

/**
 * Copies of what lives elsewhere are made of a run that has ended. A store that does not answer changes nothing of how it
 * ended: that is printed, and so is the rest.
 */
async function resultsOf(
  { shell, host, runId }: RunSession,
  { row, plan, items }: Pick<RunResult, 'row' | 'plan' | 'items'>,
): Promise<Pick<RunResult, 'results' | 'deliveries' | 'evidence'>> {
  const { results } = host;
  const location = results.location(runId);
  const say = (text: string): void => void shell.stderr.write(`${printable(text)}\n`);
  try {
    const deliveries = await readDeliveries(plan, { results, runId });
    const evidence = await readEvidence(items, results);
    const folder = results.folder(runId);
    if (row.phase !== 'finished' || folder === location) return { results: location, deliveries, evidence };
    const { left } = await results.fetch(runId, () => true);
    for (const name of left) say(`not copied to ${folder}: ${name}`);
    return { results: folder, deliveries, evidence };
  } catch (error) {
    say(`Cannot read the results of the run: ${error instanceof Error ? error.message : String(error)}`);
    return { results: location, deliveries: [], evidence: [] };
  }
}

/** The last record of a run: everything a program needs to go on. */
function doneRecord({ row, plan, results, deliveries, next }: RunResult): Readonly<Record<string, unknown>> {
  const reports = (plan?.report ?? []).map(({ file }) => `${results}/${file}`);
  return {
    ...runRecord(row),
    type: 'done',
    exit_code: exitCodeOfRun(row, plan),
    results,
    reports: row.phase === 'finished' ? reports : [],
    ...(plan?.deliver === undefined ? {} : { branches: deliveryCounts(deliveries) }),
    ...(plan?.deliver?.pullRequest === undefined ? {} : { pull_requests: pullRequestRecords(deliveries) }),
    next,
  };
}

/** Its rows do not show whether an engine runs it: a killed engine leaves them as they were. */
export function nextCommand(row: RunRow, plan: Plan | null, shell: Pick<Shell, 'env'>): string | null {
  const parley = calledAs(shell);
  const resume = `${parley} resume ${row.runId}`;
  if (row.phase !== 'finished' && row.mode === 'normal') {
    return `${parley} watch ${row.runId}, or, when no engine is running, ${resume}`;
  }
  if (row.phase !== 'finished') return resume;
  switch (exitCodeOfRun(row, plan)) {
    case EXIT.failed:
      return `${parley} logs ${row.runId} --failed`;
    case EXIT.outsideTolerance:
      return `${parley} reconcile ${row.runId}`;
    default:
      return null;
  }
}

/** GitHub drops the whole summary of a step that has more. */
const STEP_BYTES_MAX = 1024 * 1024;
const FILE_VARIABLE = 'GITHUB_STEP_SUMMARY';
const SWITCH_VARIABLE = 'PARLEY_STEP_SUMMARY';

/** Appends it where GitHub Actions takes one and the user has not switched it off; null, or why it could not. */
async function writeStepSummary(
  { env }: Pick<Shell, 'env'>,
  reader: Pick<Reader, 'draw'>,
  { runId }: RunRow,
): Promise<string | null> {
  const file = env[FILE_VARIABLE];
  const isWanted = env['GITHUB_ACTIONS'] === 'true' && env[SWITCH_VARIABLE] !== 'off';
  if (!isWanted || file === undefined || file === '' || reader.draw === undefined) return null;
  try {
    const text = `${await reader.draw(runId, 'github')}\n`;
    const before = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (before + Buffer.byteLength(text) > STEP_BYTES_MAX)
      return `Cannot add to the job summary: with what it has, it would be longer than ${STEP_BYTES_MAX} bytes`;
    appendFileSync(file, text);
    return null;
  } catch (error) {
    return `Cannot write the job summary: ${reasonOf(error)}`;
  }
}
