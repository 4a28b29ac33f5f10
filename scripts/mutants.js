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
import { bundle } from './build.js';
import { ROOT, setup } from './setup.js';

/** Every bug has to be found within this many seeds. */
export const SEEDS_MAX = 500;
/** A seed that plays longer than this never ends: that is a finding, too. */
const SILENCE_MS = 60_000;
const FOLDER = path.join(ROOT, 'dist', 'run', 'mutants');
/** The row without a patch: it must stay clean, or no finding means anything. */
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
 * Plays seeds from 1 until something is found: `{ name, file, seed, finding, seconds }`, seed and finding null when
 * nothing is.
 */
export async function hunt(mutant, { seeds = SEEDS_MAX } = {}) {
  const startedAt = Date.now();
  const outfile = await bundleDetectors(mutant);
  const ends = await play([outfile, mutant.detector ?? 'campaign', String(seeds)]);
  rmSync(outfile, { force: true });
  const seconds = (Date.now() - startedAt) / 1_000;
  return { name: mutant.name, file: mutant.file ?? null, ...ends, seconds };
}

function play(args) {
  const script = path.join(ROOT, 'scripts', 'mutant-seeds.js');
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [script, ...args], {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const seen = { seed: 0, text: '', errors: '', end: null };
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
      resolve(seen.end ?? { seed: Math.max(1, seen.seed), finding: diedOf(code, signal, seen.errors) });
    });
  });
}

function readLines(seen, data) {
  const lines = (seen.text + data).split('\n');
  seen.text = lines.pop() ?? '';
  for (const line of lines) {
    const { begins, ...end } = JSON.parse(line);
    if (begins === undefined) seen.end = end;
    else seen.seed = begins;
  }
}

function diedOf(code, signal, errors) {
  if (signal === 'SIGKILL') return { name: 'never ends', problem: `a seed plays for ${SILENCE_MS} ms` };
  return { name: 'died', problem: `exit code ${code}: ${errors.trim().split('\n').at(-1) ?? ''}` };
}

async function huntAll(mutants, options) {
  const waiting = [...mutants];
  const rows = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const row = await hunt(next, options);
      rows.push(row);
      process.stderr.write(`${line(row)}\n`);
    }
  };
  await Promise.all(Array.from({ length: os.availableParallelism() }, worker));
  return rows.sort((a, b) => (a.name < b.name ? -1 : 1));
}

function line({ name, file, seed, finding, seconds }) {
  const cells = [name.padEnd(44), (file ?? '').padEnd(36), String(seed ?? '-').padStart(5)];
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
  const chosen = [...CONTROLS, ...MUTANTS].filter(({ name }) => (options.only ?? name) === name);
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
  const text = `${found.length} of ${planted.length} planted bugs found, the last at seed ${most}`;
  return failed.length === 0 ? text : `${text}; failed: ${failed.map(({ name }) => name).join(', ')}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  setup();
  process.exitCode = await runMutants(process.argv.slice(2));
}
