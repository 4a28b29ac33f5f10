/**
 * `npm run bench -- cluster [--workers 1,2,3] [--proxies 1,2,3] [--items N] [--seconds N]`: what further workers and proxies
 * give on one machine, beside what its processors allow.
 * A run of N conversations is submitted to three APIs and carried out by so many workers, each with a data directory of its
 * own; then so many proxies before the scripted gateway answer callers that take turns among them. For each it prints
 * the rate per second and how busy all processors of the machine were meanwhile, other programs included: at 100 % a
 * further process cannot help.
 */
import os from 'node:os';
import { parseArgs } from 'node:util';
import { load } from './all/figure.ts';
import { Caller } from './cluster/caller.ts';
import { playRun } from './cluster/cluster-run.ts';
import { callFor } from './cluster/direct-calls.ts';
import { openCluster } from './cluster/ground.ts';

const { values } = parseArgs({
  options: {
    workers: { type: 'string', default: '1,2,3' },
    proxies: { type: 'string', default: '1,2,3' },
    items: { type: 'string', default: '24' },
    seconds: { type: 'string', default: '10' },
  },
});

/** Sandboxes of a host: enough for one to keep the processors busy. */
const HOST_CAPACITY = 8;
const CALLERS = 32;
const APIS = 3;

const numbers = (text: string): readonly number[] => text.split(',').filter(Boolean).map(Number);

async function main(): Promise<void> {
  for (const workers of numbers(values.workers)) await measureWorkers(workers);
  for (const proxies of numbers(values.proxies)) await measureProxies(proxies);
}

async function measureWorkers(workers: number): Promise<void> {
  const capacity = { host: HOST_CAPACITY, all: HOST_CAPACITY * workers, isolation: 'none' } as const;
  const cluster = await openCluster({ apis: APIS, workers, proxies: 0, capacity, setsApart: false });
  try {
    const items = Number(values.items);
    const busy = processorsBusy();
    const startedAt = Date.now();
    const { record } = await playRun(new Caller(cluster.apiUrls), items);
    const seconds = (Date.now() - startedAt) / 1_000;
    const succeeded = (record?.ended?.succeeded ?? 0) as number;
    tell(`workers ${workers}: ${succeeded} of ${items} conversations`, succeeded / seconds, busy());
  } finally {
    await cluster.close(false);
  }
}

async function measureProxies(proxies: number): Promise<void> {
  const capacity = { host: 1, all: 1, isolation: 'none' } as const;
  const cluster = await openCluster({ apis: 0, workers: 0, proxies, capacity, setsApart: false });
  try {
    const busy = processorsBusy();
    const seconds = Number(values.seconds);
    const calls = await callFor(cluster.proxyUrls, { callers: CALLERS, seconds });
    tell(`proxies ${proxies}: ${calls} calls of ${CALLERS} callers`, calls / seconds, busy());
  } finally {
    await cluster.close(false);
  }
}

/** Returns a function that measures how busy all processors were since this call. */
function processorsBusy(): () => number {
  const before = processorTimes();
  return () => {
    const after = processorTimes();
    return 1 - (after.idle - before.idle) / (after.all - before.all);
  };
}

function processorTimes(): { readonly idle: number; readonly all: number } {
  const times = os.cpus().map(({ times: one }) => one);
  const sum = (parts: readonly number[]): number => parts.reduce((total, part) => total + part, 0);
  return { idle: sum(times.map(({ idle }) => idle)), all: sum(times.flatMap((one) => Object.values(one))) };
}

function tell(what: string, perSecond: number, busy: number): void {
  process.stdout.write(
    `${what}, ${perSecond.toFixed(2)} a second; processors ${(busy * 100).toFixed(0)} % busy, load ${load()}\n`,
  );
}

await main();
process.exit();
