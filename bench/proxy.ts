/**
 * What the proxy costs: requests, streams and large prompts beside a bare relay, which is the limit, and other gateways.
 * Owns what is compared with what; figures are printed, never asserted. docs/bench.md says how to read them.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { load, show, type Aim } from './all/figure.ts';
import { end } from '../scripts/own-process.ts';
import { median } from './all/means.ts';
import { startBareRelay } from './proxy/bare-relay.ts';
import { firstLine, startContenders, startOn, type Contender } from './proxy/contenders.ts';
import { cpuSeconds, residentMib } from './proxy/process-cost.ts';
import { pacedLoad, soakLoad } from './proxy/paced-load.ts';
import { startRawUpstream } from './proxy/raw-upstream.ts';
import { HAS_WRK, wrkLoad } from './proxy/wrk-load.ts';

const { values } = parseArgs({
  options: {
    role: { type: 'string', default: 'bench' },
    upstream: { type: 'string', default: '' },
    'piece-ms': { type: 'string', default: '0' },
    only: { type: 'string', default: 'small,stream,large,messages,paced' },
    pairs: { type: 'string', default: '7' },
    seconds: { type: 'string', default: '5' },
    soak: { type: 'string' },
    without: { type: 'string', default: '' },
  },
});

const SMALL = '{"model":"bench","messages":[{"role":"user","content":"hello"}],"user":"u1"}';
const STREAM = '{"model":"bench","messages":[{"role":"user","content":"hello"}],"stream":true}';
const LARGE = JSON.stringify({
  model: 'bench',
  messages: Array.from({ length: 100 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: `line ${i} with "quotes" and\n`.repeat(400),
  })),
  user: 'u1',
});
const MESSAGE = '{"model":"bench","max_tokens":64,"messages":[{"role":"user","content":"hello"}]}';
const SOAK_STREAMS = 200;
const RATE = 1_000;

/** What the proxy is held to beside each of the others, in times of their calls. */
const AIMS: Readonly<Record<string, Aim>> = {
  'bare relay': ['≥', 0.65],
  'parse relay': ['≥', 1.8],
  litellm: ['≥', 100],
  portkey: ['≥', 12],
};

/** The parts that wrk sends, with their connections and who takes part. */
const PARTS: Readonly<Record<string, { body: string; connections: number; names: readonly string[] }>> = {
  small: {
    body: SMALL,
    connections: 32,
    names: ['direct', 'nginx', 'bare relay', 'parley', 'litellm', 'portkey'],
  },
  stream: {
    body: STREAM,
    connections: 8,
    names: ['direct', 'nginx', 'bare relay', 'parley', 'litellm', 'portkey'],
  },
  large: { body: LARGE, connections: 8, names: ['nginx', 'bare relay', 'parse relay', 'parley'] },
};

async function benchPart(name: string, contenders: readonly Contender[], folder: string): Promise<void> {
  const part = PARTS[name];
  if (part === undefined) return;
  const seconds = Number(values.seconds);
  const taking = contenders.filter((one) => part.names.includes(one.name));
  const readings = new Map(taking.map((one) => [one.name, [] as Awaited<ReturnType<typeof wrkLoad>>[]]));
  const cpuMs = new Map(taking.map((one) => [one.name, [] as number[]]));
  const options = { folder, body: part.body, connections: part.connections };
  for (const one of taking) await wrkLoad(one, { ...options, seconds: 1 });
  for (let pair = 0; pair < Number(values.pairs); pair += 1) {
    for (const one of taking) {
      const before = cpuSeconds(one.child?.pid);
      const figures = await wrkLoad(one, { ...options, seconds });
      readings.get(one.name)?.push(figures);
      const usedMs = (cpuSeconds(one.child?.pid) - before) * 1_000;
      cpuMs.get(one.name)?.push(usedMs / (figures.perSecond * seconds));
    }
  }
  const rate = (one: string): number => median((readings.get(one) ?? []).map((figure) => figure.perSecond));
  const cpu = (one: string): number => median(cpuMs.get(one) ?? []);
  console.log(`\n${name}: ${part.body.length} bytes, ${part.connections} connections, load ${load()}`);
  for (const [one, figures] of readings) {
    const cells = [
      `p50 ${median(figures.map((figure) => figure.p50Ms)).toFixed(2)} ms`,
      `p99 ${median(figures.map((figure) => figure.p99Ms)).toFixed(2)} ms`,
      `${(cpu(one) * 1_000).toFixed(0)} µs CPU each (${(cpu(one) / cpu('bare relay')).toFixed(2)})`,
      `${(rate(one) / rate('bare relay')).toFixed(3)} of the bare relay`,
      `errors ${figures.reduce((sum, figure) => sum + figure.errors, 0)}`,
    ];
    show({ what: `${name}: calls a second, ${one}`, value: rate(one), unit: '' }, cells.join('  '));
    const aim = AIMS[one];
    if (aim !== undefined)
      show({ what: `${name}: parley to ${one}`, value: rate('parley') / rate(one), unit: 'times', aim });
  }
  const relative = cpu('parley') / cpu('bare relay');
  show({ what: `${name}: processor of a call, parley to bare relay`, value: relative, unit: 'times' });
  for (const one of taking) console.log(`  event loop of ${one.name}: p99 ${await loopDelay(one)} ms`);
}

/** The same proxy by both of its words in turn, plain and streamed: a call of messages beside one of chat. */
async function benchMessages(contenders: readonly Contender[], folder: string): Promise<void> {
  const parley = contenders.find(({ name }) => name === 'parley');
  if (parley === undefined) return;
  const seconds = Number(values.seconds);
  console.log(`\nmessages: beside chat through the same proxy, load ${load()}`);
  for (const [name, connections] of [['small', 32] as const, ['stream', 8] as const]) {
    const streamed = (body: string): string =>
      name === 'stream' ? `${body.slice(0, -1)},"stream":true}` : body;
    const calls = [
      { route: '/v1/chat/completions', body: streamed('{"max_tokens":64,' + SMALL.slice(1)) },
      { route: '/v1/messages', body: streamed(MESSAGE) },
    ].map((call) => ({ ...call, rates: [] as number[], cpuUs: [] as number[], errors: 0 }));
    for (let pair = 0; pair < Number(values.pairs); pair += 1) {
      for (const call of calls) {
        const { route, body } = call;
        const before = cpuSeconds(parley.child?.pid);
        const figures = await wrkLoad(parley, { folder, route, body, connections, seconds });
        call.rates.push(figures.perSecond);
        call.cpuUs.push(((cpuSeconds(parley.child?.pid) - before) * 1e6) / (figures.perSecond * seconds));
        call.errors += figures.errors;
      }
    }
    for (const { route, rates, cpuUs, errors } of calls)
      console.log(
        `  ${name.padEnd(7)} ${route.padEnd(21)} ${median(rates).toFixed(0).padStart(7)}/s  ${median(cpuUs).toFixed(0).padStart(6)} µs CPU each  errors ${errors}`,
      );
    const [chat, messages] = calls.map(({ cpuUs }) => median(cpuUs));
    show({
      what: `messages: ${name}, processor of a call to one of chat`,
      value: (messages ?? NaN) / (chat ?? NaN),
      ...{ unit: 'times', aim: ['≤', 1.1] },
    });
  }
}

/** From the process itself; "-" where it does not say. */
async function loopDelay(contender: Contender): Promise<string> {
  if (contender.name.endsWith('relay')) return Number(await text(`${contender.url}/loop`, {})).toFixed(1);
  if (contender.name !== 'parley') return '-';
  const page = await text(`${contender.url}/metrics`, { authorization: 'Bearer sk-bench-master' });
  const seconds = /event_loop_delay_seconds\{quantile="0.99"\} (\S+)/.exec(page)?.[1];
  return (Number(seconds) * 1_000).toFixed(1);
}

async function text(url: string, headers: Record<string, string>): Promise<string> {
  return (await fetch(url, { headers })).text();
}

async function benchPaced(contenders: readonly Contender[]): Promise<void> {
  const taking = contenders.filter((one) => ['direct', 'nginx', 'bare relay', 'parley'].includes(one.name));
  const readings = new Map(taking.map((one) => [one.name, [] as Awaited<ReturnType<typeof pacedLoad>>[]]));
  const options = { body: SMALL, perSecond: RATE, seconds: Number(values.seconds) };
  for (let pair = 0; pair < Number(values.pairs); pair += 1) {
    for (const one of taking) readings.get(one.name)?.push(await pacedLoad(one, options));
  }
  const middle = (name: string, of: 'p50Ms' | 'p99Ms'): number =>
    median((readings.get(name) ?? []).map((figure) => figure[of]));
  console.log(`\npaced: ${RATE} requests/s, load ${load()}`);
  const added = (name: string, of: 'p50Ms' | 'p99Ms'): number => middle(name, of) - middle('direct', of);
  for (const of of ['p50Ms', 'p99Ms'] as const) {
    const what = `paced: added ${of.slice(0, 3)}`;
    const relay = added('bare relay', of);
    const aim = of === 'p50Ms' ? 0.4 : Math.round((relay + 0.5) * 100) / 100;
    show({ what: `${what}, bare relay`, value: relay, unit: 'ms' });
    show({ what: `${what}, parley`, value: added('parley', of), unit: 'ms', aim: ['≤', aim] });
    for (const [name] of readings) {
      const more = added(name, of).toFixed(2);
      console.log(
        `  ${name.padEnd(12)} ${of.slice(0, 3)} ${middle(name, of).toFixed(2)} ms, added ${more} ms`,
      );
    }
  }
}

/** Memory of the proxy while 200 streams go through it all the time. */
async function benchSoak(contenders: readonly Contender[]): Promise<void> {
  const parley = contenders.find((one) => one.name === 'parley');
  if (parley?.child === undefined || parley.child === null) return;
  const { pid } = parley.child;
  const seconds = secondsOf(values.soak ?? '');
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(residentMib(pid)), 1_000);
  const sums = await soakLoad(parley, { body: STREAM, atOnce: SOAK_STREAMS, seconds });
  clearInterval(timer);
  // The first fifth is left out: code is compiled and pools are filled then.
  const steady = samples.slice(Math.ceil(samples.length / 5));
  const quarter = Math.max(1, Math.floor(steady.length / 4));
  const [early, late] = [median(steady.slice(0, quarter)), median(steady.slice(-quarter))];
  console.log(
    `\nsoak: ${SOAK_STREAMS} streams at once for ${seconds} s, ${sums.ended} ended, ${sums.errors} failed`,
  );
  console.log(
    `  resident memory ${early.toFixed(0)} MiB early, ${late.toFixed(0)} MiB late (${((late / early - 1) * 100).toFixed(1)} %), at most ${Math.max(...samples).toFixed(0)} MiB`,
  );
}

/** "60s" or "10m". */
function secondsOf(text: string): number {
  const [, count = '', unit] = /^(\d+)([sm])$/.exec(text) ?? [];
  if (unit === undefined) throw new Error(`Cannot soak for "${text}": write it as 60s or 10m`);
  return Number(count) * (unit === 'm' ? 60 : 1);
}

async function bench(): Promise<void> {
  const isSoak = values.soak !== undefined;
  if (isSoak) secondsOf(values.soak ?? '');
  const parts = isSoak ? [] : values.only.split(',');
  const without = new Set(values.without.split(','));
  const names = isSoak ? ['parley'] : ['nginx', 'bare relay', 'parse relay', 'parley', 'litellm', 'portkey'];
  if (!HAS_WRK && !isSoak)
    show({ what: 'small, stream, large, messages', skipped: 'the program wrk is not installed' });
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-bench-'));
  const self = process.argv[1] ?? '';
  if (cpus().length > 1 && process.platform === 'linux')
    spawnSync('taskset', ['-cp', '1', String(process.pid)], { stdio: 'ignore' });
  const pieceMs = isSoak ? '50' : values['piece-ms'];
  const role = ['--role', 'upstream', '--piece-ms', pieceMs];
  const upstream = `http://127.0.0.1:${await firstLine(startOn(1, [process.execPath, self, ...role]))}`;
  const { present, absent } = await startContenders({
    ...{ self, folder, upstream },
    names: new Set(names.filter((name) => !without.has(name))),
  });
  for (const one of absent) show({ what: one.name, skipped: one.reason });
  for (const name of HAS_WRK ? ['small', 'stream', 'large'].filter((part) => parts.includes(part)) : [])
    await benchPart(name, present, folder);
  if (HAS_WRK && parts.includes('messages')) await benchMessages(present, folder);
  if (parts.includes('paced')) await benchPaced(present);
  if (isSoak) await benchSoak(present);
  // What they still write would be in the way of the removal.
  await Promise.all(present.map(({ child }) => child && end(child, 'SIGTERM')));
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  process.exit(0);
}

switch (values.role) {
  case 'upstream':
    console.log(await startRawUpstream(Number(values['piece-ms'])));
    break;
  case 'relay':
  case 'parse-relay':
    console.log(await startBareRelay(values.upstream, values.role === 'parse-relay'));
    break;
  default:
    await bench();
}
