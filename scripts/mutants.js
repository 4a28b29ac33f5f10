/**
 * `npm run campaign -- --mutants [--only NAME] [--count N] [--from N] [--seeds N] [--json]`: shows that every planted
 * bug is found.
 * For each bug it bundles the detector with the patch applied while the module is loaded, plays seed after seed in a
 * process of its own, and stops at the first finding. Owns the hunt and its table; the bugs are data in test/mutants/,
 * what counts as a finding is said in test/mutants/detectors.ts. Product code knows nothing of it.
 */
import { readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import { bundle } from './bundle.js';
import { play } from './mutant-player.js';
import { ROOT, setup } from './setup.js';

/** Every bug has to be found within this many seeds. */
const SEEDS_MAX = 500;
const FOLDER = path.join(ROOT, 'dist', 'run', 'mutants');
/** The rows without a patch: they must stay clean on every seed that a bug was looked for with. */
const CONTROLS = ['campaign', 'hosts', 'conformance'].map((detector) => ({
  name: `(none: ${detector})`,
  detector,
}));

/**
 * A planted bug, and what hunting it found: seed and finding null when nothing was.
 * @typedef {{ readonly name: string, readonly file: string, readonly find: string, readonly replace: string, readonly detector?: string }} Planted
 * @typedef {{ readonly name: string, readonly file: string | null, readonly detector: string, readonly seed: number | null, readonly finding: { readonly name: string, readonly problem: string } | null, readonly seconds: number }} Hunted
 */

/**
 * The text of a source with its patch.
 * @throws Error when the text to find does not stand in the source exactly once
 * @type {(mutant: Planted, text: string) => string}
 */
export function patched({ name, file, find, replace }, text) {
  const parts = text.split(find);
  if (parts.length !== 2)
    throw new Error(`Cannot plant "${name}": its text stands ${parts.length - 1} times in ${file}`);
  return parts.join(replace);
}

/** The source of a bug as it is today. @type {(mutant: Pick<Planted, 'file'>) => string} */
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
 * Plays so many seeds, from `from` on, until something is found: `{ name, file, detector, seed, finding, seconds }`, seed and finding null
 * when nothing is. Seeds of `skip` say nothing and are left out.
 * @type {(mutant: Planted, options?: { readonly seeds?: number, readonly from?: number, readonly skip?: readonly number[] }) => Promise<Hunted>}
 */
export async function hunt(mutant, { seeds = SEEDS_MAX, from = 1, skip = [] } = {}) {
  const startedAt = Date.now();
  const detector = mutant.detector ?? 'campaign';
  const outfile = await bundleDetectors(mutant);
  const { findings } = await play([outfile, detector], {
    from,
    to: from + seeds - 1,
    step: 1,
    skip,
    goOn: false,
  });
  rmSync(outfile, { force: true });
  const seconds = (Date.now() - startedAt) / 1_000;
  const first = findings[0] ?? { seed: null, finding: null };
  return { name: mutant.name, file: mutant.file ?? null, detector, ...first, seconds };
}

/** What the detectors find without a patch, by seed; every seed is played once, however often it is asked for. */
class Control {
  constructor({ name, detector }, from) {
    this.row = { name, detector, file: null, seconds: 0 };
    this.before = from - 1;
    this.played = this.before;
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
    const text = `${this.row.name}: ${this.dirty.length} of ${seed - this.before} seeds are not clean`;
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
    return played === this.before
      ? []
      : [
          {
            ...row,
            seed: first?.seed ?? null,
            finding: first?.finding ?? null,
            played: played - this.before,
            skipped: this.skip,
          },
        ];
  }
}

/**
 * Hunts them all, and plays the seeds that they used without a patch. What was found on a seed that is not clean without
 * one says nothing: that bug is hunted on from there, without such seeds.
 */
async function huntAll(mutants, { seeds, from: first }) {
  const last = first + seeds - 1;
  const controls = new Map(CONTROLS.map((control) => [control.detector, new Control(control, first)]));
  const rows = new Map();
  const from = new Map();
  for (let waiting = mutants; waiting.length > 0;) {
    await onAllCores(waiting, async (mutant) => {
      const { skip } = controls.get(mutant.detector ?? 'campaign');
      const next = from.get(mutant.name) ?? first;
      rows.set(mutant.name, await huntOrSay(mutant, { seeds: last - next + 1, skip, from: next }));
      process.stderr.write(`[${rows.size}/${mutants.length}] ${line(rows.get(mutant.name))}\n`);
    });
    for (const [detector, control] of controls) {
      const used = [...rows.values()].filter((row) => row.detector === detector);
      await control.upTo(Math.max(0, ...used.map(({ seed }) => seed ?? last)));
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
  const text = { type: 'string' };
  const flags = { mutants: { type: 'boolean' }, json: { type: 'boolean' } };
  const numbers = {
    count: text,
    from: { ...text, default: '1' },
    seeds: { ...text, default: `${SEEDS_MAX}` },
  };
  const { values } = parseArgs({ args, options: { only: text, ...flags, ...numbers } });
  const { only = null, json = false } = values;
  const [from, seeds, count] = [values.from, values.seeds, values.count ?? '1'].map(Number);
  if (![from, seeds, count].every((number) => Number.isSafeInteger(number) && number > 0)) return null;
  return { only, json, from, seeds, count: values.count === undefined ? null : count };
}

/** The whole table; resolves with the exit code: 0 when every bug was found and the controls are clean. */
export async function runMutants(args) {
  const options = readArguments(args);
  if (options === null) {
    process.stderr.write(
      'usage: npm run campaign -- --mutants [--only NAME] [--count N] [--from N] [--seeds N] [--json]\n',
    );
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
  const rows = await huntAll(someOf(chosen, options), options);
  const failed = rows.filter(({ file, seed }) => (file === null) !== (seed === null));
  if (options.json) process.stdout.write(`${JSON.stringify(rows)}\n`);
  else process.stdout.write(`${['', ...rows.map(line), '', summary(rows, failed)].join('\n')}\n`);
  return failed.length === 0 ? 0 : 1;
}

/** So many, others for another first seed; all without a count. */
function someOf(mutants, { count, from }) {
  if (count === null || count >= mutants.length) return mutants;
  return Array.from({ length: count }, (_, at) => mutants[(from + at) % mutants.length]);
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
