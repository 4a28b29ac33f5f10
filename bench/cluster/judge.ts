/**
 * What must hold once all faults are over: every accepted request was done or refused, none was done twice, books and
 * bill agree, results can be read from another machine, and nothing is left on any machine.
 * Owns the checks; each one that fails gives one sentence.
 */
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { MESSAGE_REFUSED } from '../../core/machine/projection.ts';
import type { Book } from './deployment.ts';
import type { Body, Caller } from './caller.ts';
import type { FinishedRun } from './cluster-run.ts';
import type { Cluster } from './ground.ts';
import { APP, OVER, type Life } from './life.ts';
import { DATABASE } from './services.ts';

/** Accepted requests are done within that, even on a busy machine. */
const SETTLE_MS = 120_000;
const POLL_MS = 500;
/** The id that the product gives the first message; all others have keys of their client. */
const GIVEN_ID = /^[0-9a-f]{8}-[0-9a-f-]{27}$/;
/** Statuses of agents that do nothing any more. */
const AT_REST = new Set(['IDLE', 'FINISHED', 'ERROR', 'STUCK', 'PAUSED']);

export interface Verdict {
  readonly findings: readonly string[];
  readonly messages: number;
  readonly events: number;
  readonly agents: Compared;
  readonly clients: Compared;
}

export async function judge(
  cluster: Cluster,
  caller: Caller,
  { lives, run }: { readonly lives: readonly Life[]; readonly run: FinishedRun },
): Promise<Verdict> {
  const findings = lives.flatMap((life) => life.findings);
  const events = await Promise.all(lives.map((life) => judgeLife(caller, life, findings)));
  await judgeStarts(cluster, lives, findings);
  await judgeRun(cluster, run, findings);
  await removeAll(cluster, caller, lives, findings);
  for (const { stream, name } of lives) {
    if (stream?.gaps.length) findings.push(`the stream of ${name} had gaps: ${stream.gaps.join(', ')}`);
  }
  for (const worker of cluster.workers) await worker.end();
  findings.push(...leftovers(cluster));
  // Each proxy closes its rows as it ends, or the others close them.
  const [agents, clients] = await Promise.all([
    compareBooks(cluster, 'agents'),
    compareBooks(cluster, 'clients'),
  ]);
  findings.push(...agents.findings, ...clients.findings);
  return {
    ...{ findings: [...new Set(findings)], agents, clients },
    messages: lives.reduce((sum, { accepted }) => sum + accepted.length, 0),
    events: events.reduce((sum, count) => sum + count, 0),
  };
}

/** Returns how many events its transcript has. */
async function judgeLife(caller: Caller, life: Life, findings: string[]): Promise<number> {
  const { conversationId: id, name, accepted, stream } = life;
  if (id === null || accepted.length === 0) return 0;
  let events: readonly Body[] = [];
  let problem: string | null = 'nobody looked';
  for (const until = Date.now() + SETTLE_MS; problem !== null && Date.now() < until; await pause(POLL_MS)) {
    const [record] = await caller.get(`${APP}?ids=${id}`);
    events = await caller.pages(`/api/v1/conversation/${id}/events/search`);
    problem = messageProblem(accepted, textsOf(events), refusedIn(events));
    const status = record?.execution_status;
    // For a sandbox that has ended, the record shows the last known execution status (D2).
    if (problem === null && !OVER.has(record?.sandbox_status) && !AT_REST.has(status))
      problem = `its agent is ${status} in a sandbox that is ${record?.sandbox_status}`;
    if (problem === null && stream !== null && stream.ids.length !== events.length)
      problem = `its stream has ${stream.ids.length} of ${events.length} events`;
  }
  if (problem !== null) findings.push(`${name} (${id}): ${problem}`);
  else if (stream?.ids.some((one, index) => one !== events[index]?.id) === true)
    findings.push(`${name} (${id}): its stream told other events than its transcript has`);
  return events.length;
}

function messageProblem(
  accepted: Life['accepted'],
  told: readonly string[],
  refused: ReadonlySet<string>,
): string | null {
  const isFirstRefused = [...refused].some((id) => GIVEN_ID.test(id));
  const isRefused = (id: string | null): boolean => (id === null ? isFirstRefused : refused.has(id));
  const wanted = accepted.filter(({ id }) => !isRefused(id)).map(({ text }) => text);
  const missing = wanted.filter((text) => !told.includes(text));
  if (missing.length > 0) return `accepted and neither delivered nor refused: ${missing.join(' ')}`;
  if (new Set(told).size !== told.length) return `delivered twice: ${told.join(' ')}`;
  const order = told.filter((text) => wanted.includes(text));
  return order.join() === wanted.filter((text) => told.includes(text)).join()
    ? null
    : `delivered in another order: ${order.join(' ')}`;
}

function textsOf(events: readonly Body[]): readonly string[] {
  return events
    .filter(({ kind, source }) => kind === 'MessageEvent' && source === 'user')
    .map(({ llm_message: { content } }) => content[0].text as string);
}

/** Ids of messages that an event reports as refused. */
function refusedIn(events: readonly Body[]): ReadonlySet<string> {
  const refusals = events.filter(({ code }) => code === MESSAGE_REFUSED);
  // "MESSAGE: CODE: reason"
  return new Set(refusals.map(({ detail }) => String(detail).split(': ')[0] ?? ''));
}

/** One conversation for each start, however often and wherever it was requested, and no undelivered start. */
async function judgeStarts(cluster: Cluster, lives: readonly Life[], findings: string[]): Promise<void> {
  const { postgres } = cluster.services;
  const rows = await postgres.run('select title, run_id from conversation', DATABASE);
  const titles = rows.filter(({ run_id: run }) => run === null).map(({ title }) => String(title));
  for (const { name } of lives) {
    const count = titles.filter((title) => title === name).length;
    if (count > 1) findings.push(`${name} was started ${count} times`);
  }
  const others = titles.filter((title) => !lives.some(({ name }) => name === title));
  if (others.length > 0) findings.push(`conversations that nobody started: ${others.join(', ')}`);
  const left = await postgres.run('select task_id from start_task where delivered = 0', DATABASE);
  if (left.length > 0) findings.push(`${left.length} starts were never delivered`);
}

async function judgeRun(cluster: Cluster, run: FinishedRun, findings: string[]): Promise<void> {
  const { id, record, keys } = run;
  if (record === null) {
    findings.push(`the run ${id} came to no end`);
    return;
  }
  const { succeeded = 0, ...otherwise } = record.ended as Readonly<Record<string, number>>;
  if (succeeded !== keys.length)
    findings.push(`of ${keys.length} items of the run ${succeeded} succeeded: ${JSON.stringify(otherwise)}`);
  const { code, stderr } = await cluster.elsewhere(['collect', id]);
  if (code !== 0) findings.push(`elsewhere "parley collect" ended with ${code}: ${stderr}`);
  const files = cluster.filesElsewhere('out');
  const wanted = ['report.html', 'report.md', ...keys.map((key) => `${key}/trajectory.zip`)];
  const missing = wanted.filter((name) => !files.some((file) => file.endsWith(`/${name}`)));
  const texts = files.filter((file) => file.endsWith('/text.md')).length;
  if (missing.length > 0) findings.push(`of the results elsewhere are missing: ${missing.join(', ')}`);
  if (texts < succeeded) findings.push(`of ${succeeded} files that were collected ${texts} are elsewhere`);
}

async function removeAll(
  cluster: Cluster,
  caller: Caller,
  lives: readonly Life[],
  findings: string[],
): Promise<void> {
  const { postgres } = cluster.services;
  const all = await postgres.run('select conversation_id from conversation where run_id is null', DATABASE);
  for (const { conversation_id: id } of all) {
    const { status } = await caller.call({ method: 'DELETE', path: `${APP}/${String(id)}` });
    if (status !== 200) findings.push(`the deletion of ${String(id)} was answered with ${status}`);
  }
  const living = "select sandbox_id, status from sandbox where status <> 'MISSING'";
  let left: readonly Record<string, unknown>[] = [];
  for (const until = Date.now() + SETTLE_MS; Date.now() < until; await pause(POLL_MS)) {
    left = await postgres.run(living, DATABASE);
    if (left.length === 0 && folders(cluster).length === 0) break;
  }
  for (const { sandbox_id: id, status } of left) findings.push(`the sandbox ${id} is still ${status}`);
  for (const { stream } of lives) {
    const isEnded = await Promise.race([stream?.ended.then(() => true), pause(SILENT_MS).then(() => false)]);
    if (stream !== null && (!isEnded || !stream.isDeleted))
      findings.push('a stream did not end with its conversation');
    stream?.stop();
  }
}

/** A stream learns of a deletion at once, or when its silence counts as a broken connection. */
const SILENT_MS = 60_000;

function folders(cluster: Cluster): readonly string[] {
  return cluster.machines.flatMap(({ name, diskFromHere }) => {
    const folder = path.join(diskFromHere, 'data/sandboxes');
    return existsSync(folder) ? readdirSync(folder).map((one) => `${name}: ${one}`) : [];
  });
}

function leftovers(cluster: Cluster): readonly string[] {
  const left = folders(cluster);
  const processes = cluster.machines.flatMap((machine) => machine.processes());
  return [
    ...(left.length > 0 ? [`folders of sandboxes are left: ${left.join(', ')}`] : []),
    ...(processes.length > 0 ? [`processes are left: ${processes.join('; ').slice(0, 2_000)}`] : []),
  ];
}

/** The workers' proxies write beside the records, the others into a schema of their own. */
const TABLES: Readonly<Record<Book, string>> = { agents: 'spend', clients: 'parley_proxy.spend' };
const COLUMNS = 'state, response_id, cost_nano_usd';
/** A dead proxy is given up within half a minute, and its spool is found within another. */
const CLOSED_MS_MAX = 120_000;
const BOOKS_POLL_MS = 1_000;

/**
 * Two books of the same calls: the spend rows of the proxies, and what the stand-in of a vendor billed (D26).
 * Owns how they are compared: each row with a price is one line of the bill with that price, and each other line of the
 * bill has a row that was cut off.
 */
interface Compared {
  readonly calls: number;
  readonly billedNanoUsd: number;
  /** Billed calls that have only a row without a price. */
  readonly cutOff: number;
  readonly findings: readonly string[];
}

async function compareBooks(cluster: Cluster, book: Book): Promise<Compared> {
  const rows = await closedRows(cluster, book);
  const bill = await cluster.bill(book);
  const findings: string[] = [];
  const left = new Map(bill);
  let unpriced = 0;
  for (const { state, response_id: id, cost_nano_usd: cost } of rows) {
    if (state === 'open') findings.push(`a spend row of the ${book} was never closed`);
    if (cost === null || id === null) {
      unpriced += 1;
      continue;
    }
    const billed = left.get(String(id));
    if (billed === undefined)
      findings.push(`a call of the ${book} was recorded and not billed, or twice: ${id}`);
    else if (billed !== Number(cost))
      findings.push(`${id} was billed ${billed} and recorded ${cost} nano-USD`);
    left.delete(String(id));
  }
  if (left.size > unpriced)
    findings.push(
      `${left.size} calls of the ${book} were billed without a row, and ${unpriced} rows were cut off`,
    );
  const billedNanoUsd = [...bill.values()].reduce((sum, cost) => sum + cost, 0);
  return { calls: bill.size, billedNanoUsd, cutOff: left.size, findings };
}

async function closedRows(cluster: Cluster, book: Book): Promise<readonly Record<string, unknown>[]> {
  const statement = `select ${COLUMNS} from ${TABLES[book]}`;
  for (const until = Date.now() + CLOSED_MS_MAX; ; await pause(BOOKS_POLL_MS)) {
    const rows = await cluster.services.postgres.run(statement, DATABASE);
    if (rows.every(({ state }) => state !== 'open') || Date.now() > until) return rows;
  }
}
