/**
 * How many conversations the embedded engine starts and finishes per second, and at what cost.
 * Owns what is compared with what; figures are printed, never asserted. docs/bench.md says how to read them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'libsql';
import type { ConversationState } from '../core/conversation/state.ts';
import { conversationId } from '../core/ids.ts';
import type { StepRecord } from '../engine/batch.ts';
import type { CommitBatch } from '../ports/engine-store.ts';
import { openStore, type Store } from '../store/open-store.ts';
import { load, show, type Aim } from './all/figure.ts';
import { median, medians } from './all/means.ts';
import { type Reading, openInstallation } from './engine/installation.ts';
import { runRuns } from './engine/run-load.ts';
import { specOf, started } from './temporal/conversations.ts';

/** Of one small commit, in microseconds. */
interface CommitCost {
  /** Of the process. */
  readonly cpuUs: number;
  readonly wallUs: number;
}

const FENCED_COMMITS = 500;

/** What the check of the engine's fence costs: the databases take turns, so that other load hits both alike. */
async function fenceCost(dir: string): Promise<Readonly<Record<'fenced' | 'bare', CommitCost>>> {
  const folder = mkdtempSync(join(dir, 'parley-bench-'));
  const onLost = (error: Error): void => {
    throw error;
  };
  const fenced = await openStore({ kind: 'sqlite', path: join(folder, 'fenced.db'), fence: { onLost } });
  const bare = await openStore({ kind: 'sqlite', path: join(folder, 'bare.db') });
  const costs = { fenced: await commits(fenced, 'f'), bare: await commits(bare, 'b') };
  await fenced.close();
  await bare.close();
  rmSync(folder, { recursive: true });
  return costs;
}

async function commits(store: Store, name: string): Promise<CommitCost> {
  const from = { at: process.hrtime.bigint(), cpu: process.cpuUsage() };
  for (let at = 0; at < FENCED_COMMITS; at += 1) await store.engine.commit(batch(`${name}-${at}`));
  const { user, system } = process.cpuUsage(from.cpu);
  const wallUs = Number(process.hrtime.bigint() - from.at) / 1_000;
  return { cpuUs: (user + system) / FENCED_COMMITS, wallUs: wallUs / FENCED_COMMITS };
}

function batch(inboxId: string): CommitBatch {
  const to = { machine: 'conversation', id: conversationId('c'.repeat(32)) } as const;
  return {
    entities: [],
    outboxAdded: [],
    outboxRetried: [],
    outboxRemoved: [],
    inboxAdded: [{ inboxId, to, event: { type: 'deadline' }, acceptedAt: 1 }],
    inboxRemoved: [],
    projections: [],
  };
}

interface ConversationLoad {
  readonly conversations: number;
  readonly atOnce: number;
  readonly grouped: boolean;
  readonly dir: string;
}

/**
 * Conversations of their own, so many at once: each is started, and its successor when it is finished.
 * Owns the load; every conversation goes the whole way from a start request to an agent that has finished.
 */
async function runConversations(load: ConversationLoad): Promise<Reading> {
  let finished = 0;
  let begun = 0;
  let allDone: () => void = () => undefined;
  const done = new Promise<void>((resolve) => (allDone = resolve));
  const begin = (): void => {
    if (begun >= load.conversations) return;
    begun += 1;
    void installation.engine.deliver(started(specOf(`message-${begun}`)));
  };
  const onStep = (record: StepRecord): void => {
    if (!hasJustFinished(record)) return;
    finished += 1;
    if (finished === load.conversations) allDone();
    else setImmediate(begin);
  };
  const { dir, grouped } = load;
  const installation = await openInstallation({ dir, grouped, onStep });
  installation.begin();
  for (let i = 0; i < load.atOnce; i += 1) begin();
  await done;
  const reading = installation.read();
  await installation.close();
  return reading;
}

function hasJustFinished({ address, before, after }: StepRecord): boolean {
  if (address.machine !== 'conversation') return false;
  const was = (before as ConversationState | null)?.executionStatus;
  return was !== 'FINISHED' && (after as ConversationState).executionStatus === 'FINISHED';
}

const PARTS = ['grouped', 'single', 'alone', 'run', 'memory', 'fence'] as const;
type Part = (typeof PARTS)[number];

const { values } = parseArgs({
  options: {
    conversations: { type: 'string', default: '1000' },
    repeats: { type: 'string', default: '5' },
    dir: { type: 'string', default: tmpdir() },
    only: { type: 'string', default: PARTS.slice(0, 4).join(',') },
  },
});
const conversations = Number(values.conversations);
const repeats = Number(values.repeats);
const { dir } = values;
const parts = values.only.split(',');

function print(
  name: string,
  { count, reading }: { readonly count: number; readonly reading: Reading },
): void {
  const per = (total: number, digits: number): string => (total / count).toFixed(digits);
  const cells = [
    name.padEnd(30),
    `${(count / reading.seconds).toFixed(0).padStart(5)} conversations/s`,
    `${per(reading.cpuMs, 3)} ms CPU`,
    `${per(reading.commits, 3)} commits`,
    `${per(reading.events, 1)} events per conversation`,
    `load ${load()}`,
  ];
  console.log(cells.join('  '));
}

type Aims = Readonly<Partial<Record<'perSecond' | 'cpuMs' | 'commits', Aim>>>;

/** The medians of one measurement. */
function showAll(
  name: string,
  { count, reading, aims }: { readonly count: number; readonly reading: Reading; readonly aims: Aims },
): void {
  const figures: readonly (readonly [string, number, string, Aim | undefined])[] = [
    ['conversations a second', count / reading.seconds, '', aims.perSecond],
    ['processor for each', reading.cpuMs / count, 'ms', aims.cpuMs],
    ['commits for each', reading.commits / count, '', aims.commits],
  ];
  for (const [what, value, unit, aim] of figures)
    show({ what: `${name}: ${what}`, value, unit, ...(aim && { aim }) });
}

const GROUPED: Aims = { perSecond: ['≥', 1_500], cpuMs: ['≤', 0.7], commits: ['≤', 0.2] };
/** What one run of items is held to: each costs a little more where there are many. */
const runAims = (items: number): Aims => ({ cpuMs: ['≤', items <= 1_000 ? 4 : 5] });

/** Repeats one measurement and prints each; returns the median of conversations per second. */
async function repeated(
  name: string,
  { count, aims = {} }: { readonly count: number; readonly aims?: Aims },
  once: () => Promise<Reading>,
): Promise<number> {
  const readings: Reading[] = [];
  for (let i = 0; i < repeats; i += 1) {
    const reading = await once();
    readings.push(reading);
    print(name, { count, reading });
  }
  const reading = medians(readings);
  showAll(name, { count, reading, aims });
  return count / reading.seconds;
}

const asked = (part: Part): boolean => parts.includes(part);
const few = Math.ceil(conversations / 5);
const bare = median([1, 2, 3].map(() => bareCommitsPerSecond(dir)));
show({ what: 'bare commits of one row a second, synced', value: bare, unit: '' }, 'median of 3');
// The first conversations run through code that the just-in-time compiler has not seen yet.
await runConversations({ conversations: 500, atOnce: 100, grouped: true, dir });

const rates: Partial<Record<Part, number>> = {};
if (asked('grouped')) {
  const one = { conversations, atOnce: 100, grouped: true, dir };
  rates.grouped = await repeated('group commit, 100 at once', { count: conversations, aims: GROUPED }, () =>
    runConversations(one),
  );
}
if (asked('single')) {
  const one = { conversations: few, atOnce: 100, grouped: false, dir };
  rates.single = await repeated('one commit per event, 100', { count: few }, () => runConversations(one));
}
if (asked('alone')) {
  const one = { conversations: few, atOnce: 1, grouped: true, dir };
  rates.alone = await repeated('group commit, 1 at once', { count: few }, () => runConversations(one));
}
if (asked('run')) {
  rates.run = await repeated(
    `one run of ${conversations} items`,
    { count: conversations, aims: runAims(conversations) },
    async () => {
      const readings: Reading[] = [];
      await runRuns({ items: conversations, concurrency: 100, runs: 1, dir }, (one) => readings.push(one));
      return medians(readings);
    },
  );
}
if (asked('memory')) {
  await runRuns({ items: conversations, concurrency: 100, runs: 10, dir }, (reading) =>
    print(`run after run, ${reading.rssMb.toFixed(0)} MB RSS`, { count: conversations, reading }),
  );
}
if (asked('fence')) {
  const costs: Awaited<ReturnType<typeof fenceCost>>[] = [];
  for (let i = 0; i < repeats; i += 1) costs.push(await fenceCost(dir));
  const sides = (['fenced', 'bare'] as const).map((side) => {
    const figure = (kind: keyof CommitCost): string =>
      median(costs.map((cost) => cost[side][kind])).toFixed(0);
    return `${side}: ${figure('cpuUs')} µs CPU and ${figure('wallUs')} µs`;
  });
  console.log(`one small commit after the other, median of ${repeats}: ${sides.join(', ')}  load ${load()}`);
}
if (rates.grouped !== undefined) {
  console.log(`conversations per bare full-sync commit: ${(rates.grouped / bare).toFixed(3)}`);
}
if (rates.grouped !== undefined && rates.single !== undefined) {
  const value = rates.grouped / rates.single;
  show({ what: 'group commit to one commit per event', value, unit: 'times', aim: ['≥', 4] });
}

/** A slow disk needs no more for a steady figure, and a fast one has measured long enough. */
const COMMITS = 1_000;

/** One-row commits per second in a file of `dir`. */
function bareCommitsPerSecond(dir: string): number {
  const folder = mkdtempSync(join(dir, 'parley-bare-'));
  const database = new Database(join(folder, 'bare.db'));
  database.exec(
    'pragma journal_mode = wal; pragma synchronous = full; create table bare (id integer primary key, text text)',
  );
  const insert = database.prepare('insert into bare (text) values (?)');
  const from = process.hrtime.bigint();
  for (let i = 0; i < COMMITS; i += 1) insert.run(`row ${i}`);
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  database.close();
  rmSync(folder, { recursive: true });
  return COMMITS / seconds;
}
