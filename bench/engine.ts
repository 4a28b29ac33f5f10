/**
 * How many conversations the embedded engine starts and finishes per second, and at what cost.
 * Owns what is compared with what; figures are printed, never asserted. docs/bench.md says how to read them.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Database from 'libsql';
import { tell, type Aim } from './all/figure.ts';
import { median } from './all/means.ts';
import { runConversations } from './engine/conversation-load.ts';
import { fenceCost, type FenceCost } from './engine/fence-cost.ts';
import type { Reading } from './engine/installation.ts';
import { runRuns } from './engine/run-load.ts';

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
    `load ${(loadavg()[0] ?? 0).toFixed(1)}`,
  ];
  console.log(cells.join('  '));
}

/** The medians, each figure for itself. */
function middle(readings: readonly Reading[]): Reading {
  return {
    seconds: median(readings.map(({ seconds }) => seconds)),
    cpuMs: median(readings.map(({ cpuMs }) => cpuMs)),
    commits: median(readings.map(({ commits }) => commits)),
    events: median(readings.map(({ events }) => events)),
  };
}

interface Aims {
  readonly perSecond?: Aim;
  readonly cpuMs?: Aim;
  readonly commits?: Aim;
}

function tellAll(
  name: string,
  of: { readonly count: number; readonly reading: Reading; readonly aims: Aims },
): void {
  const { count, reading, aims } = of;
  const one = (
    what: string,
    figure: { readonly value: number; readonly unit: string; readonly aim: Aim | undefined },
  ) => {
    const { aim, ...rest } = figure;
    tell({ what: `${name}: ${what}`, ...rest, ...(aim && { aim }) });
  };
  one('conversations a second', { value: count / reading.seconds, unit: '', aim: aims.perSecond });
  one('processor for each', { value: reading.cpuMs / count, unit: 'ms', aim: aims.cpuMs });
  one('commits for each', { value: reading.commits / count, unit: '', aim: aims.commits });
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
  const reading = middle(readings);
  if (repeats > 1) print(`= ${name}, median`, { count, reading });
  tellAll(name, { count, reading, aims });
  return count / reading.seconds;
}

const asked = (part: Part): boolean => parts.includes(part);
const few = Math.ceil(conversations / 5);
const bare = median([1, 2, 3].map(() => bareCommitsPerSecond(dir)));
tell({ what: 'bare commits of one row a second, synced', value: bare, unit: '' });
console.log(`bare one-row commits, full sync: ${bare.toFixed(0)}/s (median of 3)`);
// The first conversations run through code that the just-in-time compiler has not seen yet.
await runConversations({ conversations: 500, atOnce: 100, grouped: true, dir });

const rates: Partial<Record<Part, number>> = {};
if (asked('grouped')) {
  const load = { conversations, atOnce: 100, grouped: true, dir };
  rates.grouped = await repeated('group commit, 100 at once', { count: conversations, aims: GROUPED }, () =>
    runConversations(load),
  );
}
if (asked('single')) {
  const load = { conversations: few, atOnce: 100, grouped: false, dir };
  rates.single = await repeated('one commit per event, 100', { count: few }, () => runConversations(load));
}
if (asked('alone')) {
  const load = { conversations: few, atOnce: 1, grouped: true, dir };
  rates.alone = await repeated('group commit, 1 at once', { count: few }, () => runConversations(load));
}
if (asked('run')) {
  rates.run = await repeated(
    `one run of ${conversations} items`,
    { count: conversations, aims: runAims(conversations) },
    async () => {
      const readings: Reading[] = [];
      await runRuns({ items: conversations, concurrency: 100, runs: 1, dir }, (one) => readings.push(one));
      return middle(readings);
    },
  );
}
if (asked('memory')) {
  await runRuns({ items: conversations, concurrency: 100, runs: 10, dir }, (reading) =>
    print(`run after run, ${reading.rssMb.toFixed(0)} MB RSS`, { count: conversations, reading }),
  );
}
if (asked('fence')) {
  const costs: FenceCost[] = [];
  for (let i = 0; i < repeats; i += 1) costs.push(await fenceCost(dir));
  const figure = (read: (cost: FenceCost) => number): string => median(costs.map(read)).toFixed(0);
  console.log(
    `one small commit after the other, median of ${repeats}: ` +
      `${figure(({ cpuUs }) => cpuUs.fenced)} µs CPU and ${figure(({ wallUs }) => wallUs.fenced)} µs with the fence, ` +
      `${figure(({ cpuUs }) => cpuUs.bare)} µs CPU and ${figure(({ wallUs }) => wallUs.bare)} µs without  ` +
      `load ${(loadavg()[0] ?? 0).toFixed(1)}`,
  );
}
if (rates.grouped !== undefined) {
  console.log(`conversations per bare full-sync commit: ${(rates.grouped / bare).toFixed(3)}`);
}
if (rates.grouped !== undefined && rates.single !== undefined) {
  tell({
    what: 'group commit to one commit per event',
    value: rates.grouped / rates.single,
    unit: 'times',
    aim: ['≥', 4],
  });
  console.log(`group commit / one commit per event: ${(rates.grouped / rates.single).toFixed(1)} times`);
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
