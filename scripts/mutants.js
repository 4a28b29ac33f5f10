/**
 * `npm run campaign -- --mutants [--only NAME] [--seeds N] [--json]`: shows that every planted bug is found.
 * For each bug it bundles the detector with the patch applied while the module is loaded, plays seed after seed in a
 * process of its own, and stops at the first finding. Owns the hunt and its table; the bugs are data in test/mutants/,
 * what counts as a finding is said in test/mutants/detectors.ts. Product code knows nothing of it.
 */
import { readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { spawn } from 'node:child_process';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.js';
import { ROOT, setup } from './setup.js';

/** Every bug has to be found within this many seeds. */
export const SEEDS_MAX = 500;
/** A seed that plays longer than this never ends: that is a finding, too. */
const SILENCE_MS = 60_000;
const FOLDER = path.join(ROOT, 'dist', 'run', 'mutants');
/** The rows without a patch: they must stay clean on every seed that a bug was looked for with. */
const CONTROLS = ['campaign', 'conformance'].map((detector) => ({ name: `(none: ${detector})`, detector }));

/**
 * The text of a source with its patch.
 * @throws Error when the text to find does not stand in the source exactly once
 */
export function patched({ name, file, find, replace }, text) {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`Cannot plant "${name}": its text stands ${parts.length - 1} times in ${file}`);
  return parts.join(replace);
}

/** The source of a bug as it is today. */
export function sourceOf({ file }) {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** Hands the patched text to the compiler; nothing is written into the tree. */
function plant(mutant) {
  const planted = path.join(ROOT, mutant.file);
  return {
    name: 'plant',
    setup(build) {
      build.onLoad({ filter: /\.ts$/ }, ({ path: loaded }) =>
        loaded === planted ? { contents: patched(mutant, sourceOf(mutant)), loader: 'ts' } : undefined,
      );
    },
  };
}

async function bundleInto(outfile, entry, plugins = []) {
  await bundle({
    entryPoints: [entry],
    outfile,
    format: 'esm',
    packages: 'external',
    sourcemap: false,
    plugins,
  });
  return outfile;
}

/** Bundles the detectors with one bug in them, and gives the path of the module. A bug without a file is none. */
export async function bundleDetectors(mutant) {
  const name = `${mutant.name.replaceAll(/[^\w-]+/g, '_')}-${process.pid}.mjs`;
  const plugins = mutant.file === undefined ? [] : [plant(mutant)];
  return await bundleInto(path.join(FOLDER, name), 'test/mutants/detectors.ts', plugins);
}

/**
 * Plays seeds from 1 until something is found: `{ name, file, detector, seed, finding, seconds }`, seed and finding null
 * when nothing is. Seeds of `skip` say nothing and are left out.
 */
export async function hunt(mutant, { seeds = SEEDS_MAX, from = 1, skip = [] } = {}) {
  const startedAt = Date.now();
  const detector = mutant.detector ?? 'campaign';
  const outfile = await bundleDetectors(mutant);
  const { findings } = await play([outfile, detector], { from, to: seeds, step: 1, skip, goOn: false });
  rmSync(outfile, { force: true });
  const seconds = (Date.now() - startedAt) / 1_000;
  const first = findings[0] ?? { seed: null, finding: null };
  return { name: mutant.name, file: mutant.file ?? null, detector, ...first, seconds };
}

/** One process; resolves with what it found: `{ findings, diedAt }`, the seed null when it came to its end. */
function play(args, plan) {
  const script = path.join(ROOT, 'scripts', 'mutant-seeds.js');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...args, JSON.stringify(plan)], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const seen = { seed: plan.from, text: '', errors: '', findings: [], ended: false };
    let watchdog = null;
    const listen = () => {
      clearTimeout(watchdog);
      watchdog = setTimeout(() => child.kill('SIGKILL'), SILENCE_MS);
    };
    listen();
    child.stderr.on('data', (data) => (seen.errors = (seen.errors + data).slice(-2_000)));
    child.stdout.on('data', (data) => {
      listen();
      readLines(seen, data);
    });
    child.on('close', (code, signal) => {
      clearTimeout(watchdog);
      const { findings, ended, seed } = seen;
      if (ended) return resolve({ findings, diedAt: null });
      resolve({
        findings: [...findings, { seed, finding: diedOf(code, signal, seen.errors) }],
        diedAt: seed,
      });
    });
  });
}

function readLines(seen, data) {
  const lines = (seen.text + data).split('\n');
  seen.text = lines.pop() ?? '';
  for (const line of lines) {
    const { begins, ended, ...found } = JSON.parse(line);
    if (ended === true) seen.ended = true;
    else if (begins === undefined) seen.findings.push(found);
    else seen.seed = begins;
  }
}

function diedOf(code, signal, errors) {
  if (signal === 'SIGKILL') return { name: 'never ends', problem: `a seed plays for ${SILENCE_MS} ms` };
  return { name: 'died', problem: `exit code ${code}: ${errors.trim().split('\n').at(-1) ?? ''}` };
}

/** What the detectors find without a patch, by seed; every seed is played once, however often it is asked for. */
class Control {
  constructor({ name, detector }) {
    this.row = { name, detector, file: null, seconds: 0 };
    this.played = 0;
    this.dirty = [];
  }

  /** Plays on up to that seed, its seeds dealt out to all cores. */
  async upTo(seed) {
    if (seed <= this.played) return;
    const startedAt = Date.now();
    const outfile = await bundleDetectors({ name: this.row.name });
    const cores = os.availableParallelism();
    const parts = Array.from({ length: cores }, (_, core) =>
      this.part(outfile, { from: this.played + 1 + core, to: seed, step: cores, skip: [], goOn: true }),
    );
    const found = (await Promise.all(parts)).flat();
    rmSync(outfile, { force: true });
    this.dirty = [...this.dirty, ...found].sort((a, b) => a.seed - b.seed);
    this.played = seed;
    this.row.seconds += (Date.now() - startedAt) / 1_000;
    const text = `${this.row.name}: ${this.dirty.length} of ${seed} seeds are not clean`;
    process.stderr.write(`${text}\n`);
  }

  async part(outfile, plan) {
    if (plan.from > plan.to) return [];
    const { findings, diedAt } = await play([outfile, this.row.detector], plan);
    if (diedAt === null) return findings;
    return [...findings, ...(await this.part(outfile, { ...plan, from: diedAt + plan.step }))];
  }

  get skip() {
    return this.dirty.map(({ seed }) => seed);
  }

  get rows() {
    const { row, played, dirty } = this;
    const [first] = dirty;
    return played === 0
      ? []
      : [{ ...row, seed: first?.seed ?? null, finding: first?.finding ?? null, played, skipped: this.skip }];
  }
}

/**
 * Hunts them all, and plays the seeds that they used without a patch. What was found on a seed that is not clean without
 * one says nothing: that bug is hunted on from there, without such seeds.
 */
async function huntAll(mutants, { seeds }) {
  const controls = new Map(CONTROLS.map((control) => [control.detector, new Control(control)]));
  const rows = new Map();
  const from = new Map();
  for (let waiting = mutants; waiting.length > 0;) {
    await onAllCores(waiting, async (mutant) => {
      const { skip } = controls.get(mutant.detector ?? 'campaign');
      rows.set(mutant.name, await huntOrSay(mutant, { seeds, skip, from: from.get(mutant.name) ?? 1 }));
      process.stderr.write(`[${rows.size}/${mutants.length}] ${line(rows.get(mutant.name))}\n`);
    });
    for (const [detector, control] of controls) {
      const used = [...rows.values()].filter((row) => row.detector === detector);
      await control.upTo(Math.max(0, ...used.map(({ seed }) => seed ?? seeds)));
    }
    waiting = waiting.filter(({ name }) => {
      const { seed, detector } = rows.get(name);
      if (!controls.get(detector).skip.includes(seed)) return false;
      from.set(name, seed + 1);
      return true;
    });
  }
  const planted = [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
  return [...[...controls.values()].flatMap((control) => control.rows), ...planted];
}

/** A bug that cannot be planted is not found, and does not keep the others from being hunted. */
async function huntOrSay(mutant, options) {
  try {
    return await hunt(mutant, options);
  } catch (error) {
    const finding = { name: 'not planted', problem: error instanceof Error ? error.message : String(error) };
    const { name, file, detector = 'campaign' } = mutant;
    return { name, file, detector, seed: null, finding, seconds: 0 };
  }
}

async function onAllCores(items, work) {
  const waiting = [...items];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next);
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, worker));
}

function line({ name, file, seed, finding, seconds, played }) {
  const source = file ?? `${played} seeds`;
  const cells = [name.padEnd(44), source.padEnd(36), String(seed ?? '-').padStart(5)];
  return `${cells.join(' ')}  ${(finding?.name ?? 'nothing').padEnd(12)} ${seconds.toFixed(1).padStart(6)} s`;
}

function readArguments(args) {
  const options = { only: null, seeds: SEEDS_MAX, json: false };
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === '--only') options.only = args[(at += 1)] ?? '';
    else if (args[at] === '--seeds') options.seeds = Number(args[(at += 1)]);
    else if (args[at] === '--json') options.json = true;
    else if (args[at] !== '--mutants') return null;
  }
  return Number.isInteger(options.seeds) && options.seeds > 0 ? options : null;
}

/** The whole table; resolves with the exit code: 0 when every bug was found and the controls are clean. */
export async function runMutants(args) {
  const options = readArguments(args);
  if (options === null) {
    process.stderr.write('usage: npm run campaign -- --mutants [--only NAME] [--seeds N] [--json]\n');
    return 2;
  }
  const listed = await bundleInto(path.join(FOLDER, `list-${process.pid}.mjs`), 'test/mutants/mutants.ts');
  const { MUTANTS } = await import(pathToFileURL(listed).href);
  rmSync(listed, { force: true });
  const chosen = MUTANTS.filter(({ name }) => (options.only ?? name) === name);
  if (chosen.length === 0) {
    process.stderr.write(`campaign: there is no planted bug "${options.only}"\n`);
    return 2;
  }
  const rows = await huntAll(chosen, options);
  const failed = rows.filter(({ file, seed }) => (file === null) !== (seed === null));
  if (options.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
  else process.stdout.write(`${['', ...rows.map(line), '', summary(rows, failed)].join('\n')}\n`);
  return failed.length === 0 ? 0 : 1;
}

function summary(rows, failed) {
  const planted = rows.filter(({ file }) => file !== null);
  const found = planted.filter(({ seed }) => seed !== null);
  const most = Math.max(0, ...found.map(({ seed }) => seed));
  const lines = [`${found.length} of ${planted.length} planted bugs found, the last at seed ${most}`];
  for (const { name, skipped = [] } of rows)
    if (skipped.length > 0) lines.push(`${name}: not clean, and skipped: seeds ${skipped.join(', ')}`);
  if (failed.length > 0) lines.push(`failed: ${failed.map(({ name }) => name).join(', ')}`);
  return lines.join('\n');
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  setup();
  process.exitCode = await runMutants(process.argv.slice(2));
}
