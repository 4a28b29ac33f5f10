/**
 * `npm run explore -- [--minutes N] [--only NAME] [--seed N]`: plays fresh seeds of everything that plays seeds, one play
 * after the other until the time is over, and prints for each that broke its seed and the command that repeats it.
 * For people and nights: what decides a landing are the listed seeds of test/seeds.json. Owns the plays and their turns.
 */
import { spawn } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from './build.js';
import { ROOT, setup } from './setup.js';

const MINUTE_MS = 60_000;
const MINUTES_DEFAULT = 10;
/** One play takes no more than this share of the time, so that each has its turn. */
const SHARE = 1 / 8;
/** Below it a fresh seed can be typed. */
const SEED_MAX = 1_000_000_000;
/** Bugs that are hunted in one turn: each is a bundle and up to 500 seeds. */
const HUNTED = 3;
/** Of what broke, the last lines. */
const TAIL_LINES = 15;

/** Each play by name: the command for a seed and for so many minutes, and the variables that it needs. */
export const PLAYS = {
  campaign: (seed, minutes) => program('scripts/campaign.js', '--from', seed, '--minutes', minutes),
  mutants: (seed) => program('scripts/campaign.js', '--mutants', '--from', seed, '--count', HUNTED),
  properties: (seed) => tests(seed, propertyTests()),
  conformance: (seed) =>
    tests(seed, ['test/conformance/race.test.ts', 'test/conformance/random-jobs.test.ts']),
  'api-races': (seed) => tests(seed, ['test/api/races.test.ts', 'test/api/process-races.test.ts']),
  schemathesis: (seed) => tests(seed, ['test/api/schemathesis.test.ts']),
  'chaos-process': (seed, minutes) => chaos('--seed', seed, '--minutes', minutes, '--runtime', 'process'),
  'chaos-docker': (seed, minutes) => chaos('--seed', seed, '--minutes', minutes, '--runtime', 'docker'),
  'chaos-hostile': (seed, minutes) => chaos('--hostile', '--seed', seed, '--minutes', minutes),
  'killed-engine': (seed) => tests(seed, ['test/engine/killed-process.test.ts']),
  'killed-batch': (seed) => tests(seed, ['test/e2e/killed-batch.test.ts']),
  'killed-cluster': (seed) => tests(seed, ['test/e2e/cluster-chaos.test.ts']),
  'killed-workers': (seed) =>
    tests(seed, ['test/temporal/kills.test.ts', 'test/e2e/temporal-killed-worker.test.ts']),
};

/** Every file of tests that draws from fast-check. */
function propertyTests() {
  return readdirSync(path.join(ROOT, 'test'), { recursive: true })
    .map((file) => path.join('test', file))
    .filter((file) => file.endsWith('.test.ts'))
    .filter((file) => readFileSync(path.join(ROOT, file), 'utf8').includes("from 'fast-check'"));
}

function tests(seed, files) {
  return { env: { PARLEY_SEED: String(seed) }, args: ['scripts/test.js', '--strict', ...files] };
}

function program(...args) {
  return { args: args.map(String) };
}

const chaos = (...args) => program('scripts/run-built.js', 'bench/chaos.ts', ...args);

/** What a person types to see it again. */
export function commandLine({ env = {}, args }) {
  return [...Object.entries(env).map(([name, value]) => `${name}=${value}`), 'node', ...args].join(' ');
}

async function main() {
  const { values } = parseArgs({
    options: { minutes: { type: 'string' }, only: { type: 'string' }, seed: { type: 'string' } },
  });
  const minutes = Number(values.minutes ?? MINUTES_DEFAULT);
  const names = Object.keys(PLAYS).filter((name) => (values.only ?? name) === name);
  if (!(minutes > 0) || names.length === 0) {
    process.stderr.write(
      `usage: npm run explore -- [--minutes N] [--seed N] [--only ${Object.keys(PLAYS).join('|')}]\n`,
    );
    return 2;
  }
  setup();
  await build();
  return await explore({ names, forMs: minutes * MINUTE_MS, seed: values.seed });
}

async function explore({ names, forMs, seed }) {
  const until = Date.now() + forMs;
  const broken = [];
  let played = 0;
  for (; Date.now() < until; played += 1) {
    const name = names[played % names.length];
    const share = names.length === 1 ? forMs : forMs * SHARE;
    const minutes = Math.max(1, Math.floor(Math.min(share, until - Date.now()) / MINUTE_MS));
    const at = seed === undefined ? randomInt(1, SEED_MAX) : Number(seed) + played;
    const play = PLAYS[name](at, minutes);
    const { code, seconds, said } = await run(play);
    process.stdout.write(`${name}, seed ${at}: ${code === 0 ? 'holds' : 'BROKE'} (${seconds} s)\n`);
    if (code === 0) continue;
    process.stdout.write(`${said.split('\n').slice(-TAIL_LINES).join('\n')}\nagain: ${commandLine(play)}\n`);
    broken.push({ name, seed: at, command: commandLine(play) });
  }
  process.stdout.write(`${played} plays, ${broken.length} broke\n`);
  for (const one of broken) process.stdout.write(`broke: ${one.name}, seed ${one.seed}: ${one.command}\n`);
  return broken.length === 0 ? 0 : 1;
}

function run({ env = {}, args }) {
  const startedAt = Date.now();
  const child = spawn(process.execPath, args, {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text) => (said = `${said}${text}`.slice(-100_000)));
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code) =>
      resolve({ code, said: said.trimEnd(), seconds: Math.round((Date.now() - startedAt) / 1_000) }),
    );
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) process.exitCode = await main();
