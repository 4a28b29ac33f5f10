/**
 * What a person waits for who types a command: help, a check and a simulation as whole processes beside a bare Node, and
 * the installation of what `npm start` needs in a fresh clone.
 * Owns the commands; figures are printed, never asserted. docs/bench.md says how to read them.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { pathToFileURL } from 'node:url';
import type * as packages from '../scripts/packages-to-use.js';
import { load, show, type Aim } from './all/figure.ts';
import { median } from './all/means.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '11' },
    only: { type: 'string', default: 'commands,install' },
  },
});
const PARLEY = path.resolve('bin/parley.js');
const JOB = path.resolve('examples/upgrade-200/job.yaml');
/** A download that takes longer is not worth the wait. */
const INSTALL_MS_MAX = 180_000;

const COMMANDS: Readonly<Record<string, { readonly args: readonly string[]; readonly aim?: Aim }>> = {
  'bare Node': { args: ['-e', '0'] },
  'parley --help': { args: [PARLEY, '--help'], aim: ['≤', 80] },
  'parley --help, as installed': { args: [path.resolve('dist/parley.js'), '--help'], aim: ['≤', 80] },
  'parley validate, 200 conversations': { args: [PARLEY, 'validate', JOB], aim: ['≤', 150] },
  'parley simulate, 200 items': { args: [PARLEY, 'simulate', JOB], aim: ['≤', 600] },
};

function commands(): void {
  const taken = new Map(Object.keys(COMMANDS).map((name) => [name, [] as number[]]));
  // In turns, so that other work on the machine strikes all alike; the first turn fills the caches of the disk.
  for (let round = 0; round <= Number(values.rounds); round += 1) {
    for (const [name, { args }] of Object.entries(COMMANDS)) {
      const from = performance.now();
      const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
      if (status !== 0) throw new Error(`Cannot measure ${name}: ${stderr}`);
      if (round > 0) taken.get(name)?.push(performance.now() - from);
    }
  }
  for (const [name, all] of taken) {
    const { aim } = COMMANDS[name] ?? {};
    const figure = { what: `${name}, the whole process`, value: median(all), unit: 'ms' };
    show({ ...figure, ...(aim && { aim }) }, `least ${Math.min(...all).toFixed(0)} ms`);
  }
}

/** As a fresh clone does it, from whatever npm's own cache has. */
async function install(): Promise<void> {
  const script = pathToFileURL(path.resolve('scripts/packages-to-use.js')).href;
  const { packagesToUse } = (await import(script)) as typeof packages;
  const { manifest, lock } = packagesToUse(
    readFileSync('package.json', 'utf8'),
    readFileSync('package-lock.json', 'utf8'),
  );
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-bench-install-'));
  try {
    writeFileSync(path.join(folder, 'package.json'), manifest);
    writeFileSync(path.join(folder, 'package-lock.json'), lock);
    const from = performance.now();
    const options = { cwd: folder, encoding: 'utf8', timeout: INSTALL_MS_MAX } as const;
    const npm = spawnSync('npm', ['ci', '--no-audit', '--no-fund'], options);
    const seconds = (performance.now() - from) / 1_000;
    if (npm.status !== 0) {
      const skipped = npm.error?.message ?? npm.stderr.trim().split('\n').at(-1) ?? 'npm failed';
      show({ what: 'npm ci of what npm start needs', skipped });
      return;
    }
    const size = spawnSync('du', ['-sk', 'node_modules'], options);
    const megabytes = (Number.parseInt(size.stdout, 10) * 1_024) / 1e6;
    show({ what: 'npm ci of what npm start needs', value: seconds, unit: 's', aim: ['≤', 20] });
    show({ what: 'its packages', value: megabytes, unit: 'MB', aim: ['≤', 150] });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const parts = values.only.split(',');
if (parts.includes('commands')) commands();
if (parts.includes('install')) await install();
console.log(`load ${load()}`);
