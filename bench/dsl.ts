/**
 * How long it takes to validate a job of 200 conversations from a cold start, beside a bare process that parses and
 * checks the same file; and to plan 100,000 conversations from a CSV file, with the memory it takes.
 * Owns the two loads; figures are printed, never asserted.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { jobWorld, readJobFile } from '../cli/job-file.ts';
import { compileJob } from '../dsl/compile-job.ts';

const CONVERSATIONS = 200;
const ROWS = 100_000;
const ROUNDS = 7;

/** What the comparison does: read, parse, hold to a schema of the same depth. */
const BARE = `
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
const conversation = z.strictObject({ id: z.string(), repo: z.string(), model: z.string(), prompt: z.string() });
const job = z.strictObject({ kind: z.literal('job'), version: z.literal(1), name: z.string(), conversations: z.array(conversation) });
job.parse(parse(readFileSync(process.argv[2], 'utf8')));
`;

function writeJobs(folder: string): { readonly job: string; readonly bare: string; readonly large: string } {
  const job = path.join(folder, 'job.yaml');
  const entries = Array.from(
    { length: CONVERSATIONS },
    (_, at) =>
      `  - id: c${at}\n    repo: acme/service-${at}\n    model: fast\n    prompt: Upgrade service ${at}.\n`,
  );
  writeFileSync(job, `kind: job\nversion: 1\nname: bench\nconversations:\n${entries.join('')}`);
  const bare = path.join(process.cwd(), 'node_modules/.cache/bench-bare.mjs');
  writeFileSync(bare, BARE);
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
  return { job, bare, large };
}

function elapsedMs(args: readonly string[]): number {
  const from = process.hrtime.bigint();
  const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`Cannot measure: ${stderr}`);
  return Number(process.hrtime.bigint() - from) / 1e6;
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function validate(job: string, bare: string): void {
  const program = path.join(process.cwd(), 'bin/parley.js');
  const ours: number[] = [];
  const theirs: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    theirs.push(elapsedMs([bare, job]));
    ours.push(elapsedMs([program, 'validate', job]));
  }
  const ratio = median(ours) / median(theirs);
  console.log(
    `validate ${CONVERSATIONS} conversations, cold: ${median(ours).toFixed(0)} ms; bare yaml and zod ${median(theirs).toFixed(0)} ms; ${ratio.toFixed(2)} times, median of ${ROUNDS}`,
  );
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
  console.log(
    `plan ${plan.items.length} conversations from CSV: ${seconds.toFixed(2)} s, ${((user + system) / 1e6).toFixed(2)} s of processor; most memory of the process ${peakMiB.toFixed(0)} MiB`,
  );
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'parley-bench-'));
try {
  const { job, bare, large } = writeJobs(folder);
  planLarge(large);
  validate(job, bare);
} finally {
  rmSync(folder, { recursive: true });
}
