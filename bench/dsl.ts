/**
 * How long it takes to validate a job of 200 conversations from a cold start, beside a bare process that parses and
 * checks the same file with js-yaml and zod; and to plan 100,000 conversations from a CSV file, with the memory it takes.
 * Owns the two loads; figures are printed, never asserted.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { show } from './all/figure.ts';
import { median } from './all/means.ts';
import { jobWorld, readJobFile } from '../host/job/job-file.ts';
import { compileJob } from '../dsl/compile-job.ts';

const CONVERSATIONS = 200;
const ROWS = 100_000;
const ROUNDS = 7;

const BARE = path.resolve('bench/bare-validate.js');

function writeJobs(folder: string): { readonly job: string; readonly large: string } {
  const job = path.join(folder, 'job.yaml');
  const entries = Array.from(
    { length: CONVERSATIONS },
    (_, at) =>
      `  - id: c${at}\n    repo: acme/service-${at}\n    model: fast\n    prompt: Upgrade service ${at}.\n`,
  );
  writeFileSync(job, `kind: job\nversion: 1\nname: bench\nconversations:\n${entries.join('')}`);
  const rows = Array.from({ length: ROWS }, (_, at) => `acme/service-${at},main,team${at % 20},${at % 7}\n`);
  writeFileSync(path.join(folder, 'repos.csv'), `repo,branch,owner,tier\n${rows.join('')}`);
  const large = path.join(folder, 'large.yaml');
  writeFileSync(
    large,
    `kind: job
version: 1
name: large
conversations:
  - id: upgrade
    items: {csv: repos.csv, where: item.tier != '9'}
    key: \${{ item.repo }}
    repo: {name: '\${{ item.repo }}', branch: '\${{ item.branch }}'}
    model: fast
    tags: {owner: '\${{ item.owner }}'}
    priority: "\${{ item.tier == '0' ? 10 : 0 }}"
    prompt: Upgrade \${{ item.repo }} for \${{ item.owner }}.
    limits: {usd: 2.50, turns: 300}
`,
  );
  return { job, large };
}

interface Taken {
  /** By the clock. */
  readonly ms: number;
  /** Of the processor, by the whole process. */
  readonly cpuMs: number;
}

/** A process cannot be asked for the processor's time of its children, so they write it down themselves. */
function taken(args: readonly string[], folder: string): Taken {
  const used = path.join(folder, 'used.json');
  const preload = path.join(folder, 'used.cjs');
  writeFileSync(
    preload,
    `process.on('exit', () => require('node:fs').writeFileSync(${JSON.stringify(used)}, JSON.stringify(process.cpuUsage())));`,
  );
  const from = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, ['--require', preload, ...args], {
    encoding: 'utf8',
  });
  const ms = Number(process.hrtime.bigint() - from) / 1e6;
  if (status !== 0) throw new Error(`Cannot measure: ${stderr}`);
  const { user, system } = JSON.parse(readFileSync(used, 'utf8')) as NodeJS.CpuUsage;
  return { ms, cpuMs: (user + system) / 1e3 };
}

function validate(job: string): void {
  const program = path.join(process.cwd(), 'bin/parley.js');
  const folder = path.dirname(job);
  const ours: Taken[] = [];
  const theirs: Taken[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    theirs.push(taken([BARE, job], folder));
    ours.push(taken([program, 'validate', job], folder));
  }
  const parts = [
    ['validate of 200 conversations, cold, to bare js-yaml and zod', 'ms'],
    ['the same, processor', 'cpuMs'],
  ] as const;
  for (const [what, kind] of parts) {
    const [us, them] = [ours, theirs].map((all) => median(all.map((one) => one[kind]))) as [number, number];
    const beside = `${us.toFixed(0)} ms against ${them.toFixed(0)} ms, medians of ${ROUNDS}`;
    show({ what, value: us / them, unit: 'times' }, beside);
  }
}

function planLarge(large: string): void {
  const cwd = path.dirname(large);
  const world = jobWorld({
    shell: { cwd, env: {} },
    file: large,
    models: null,
    checksSecrets: false,
    inputs: { typed: {}, values: {} },
  });
  const cpuFrom = process.cpuUsage();
  const from = process.hrtime.bigint();
  const { plan, diagnostics } = compileJob({ path: large, text: readJobFile(large, cwd) }, world);
  const seconds = Number(process.hrtime.bigint() - from) / 1e9;
  const { user, system } = process.cpuUsage(cpuFrom);
  if (plan === null) throw new Error(`Cannot measure: ${JSON.stringify(diagnostics[0])}`);
  const peakMiB = process.resourceUsage().maxRSS / 1024;
  const processor = `${((user + system) / 1e6).toFixed(2)} s of processor`;
  show({ what: `plan of ${plan.items.length} conversations from CSV`, value: seconds, unit: 's' }, processor);
  show({ what: 'most memory of that process', value: peakMiB, unit: 'MiB' });
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-bench-'));
try {
  const { job, large } = writeJobs(folder);
  planLarge(large);
  validate(job);
} finally {
  rmSync(folder, { recursive: true });
}
