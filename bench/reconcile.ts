/**
 * How often reconciliation is right about bills with a known truth, and what a million rows against ten thousand
 * conversations take as the command, its record included, beside the bare reading of the same rows.
 * Owns what is printed; figures are never asserted here.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createReadStream, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { show } from './all/figure.ts';
import { measureAccuracy } from './reconcile/accuracy.ts';
import { BILL_CASES } from './reconcile/bill-cases.ts';
import { EXPORT, makeBigRun, RUN } from './reconcile/big-run.ts';
import { makeBill } from './reconcile/made-bill.ts';

const ROWS = countOf(process.argv[2], 1_000_000);
const CONVERSATIONS = countOf(process.argv[3], 10_000);
const PARLEY = path.join(process.cwd(), 'bin', 'parley.js');

const say = (text: string): void => void process.stdout.write(`${text}\n`);
const share = (part: number, whole: number): string => (whole === 0 ? '-' : (part / whole).toFixed(6));

function countOf(text: string | undefined, usual: number): number {
  const count = Number(text ?? usual);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new Error(`Cannot measure "${text ?? ''}" rows: usage is reconcile [ROWS] [CONVERSATIONS]`);
}

function sayCases(): void {
  const worst = { precision: 1, recall: 1, offBy: 0 };
  say('rows  certain  wrong  precision  recall    by time  probable, right  sums off by (nano-USD)  case');
  for (const { name, shape } of BILL_CASES) {
    const one = measureAccuracy(makeBill(shape));
    const right = one.certain - one.wrong;
    worst.precision = Math.min(worst.precision, right / one.certain);
    worst.recall = Math.min(worst.recall, right / one.ours);
    worst.offBy = Math.max(worst.offBy, Number(one.offBy));
    const cells = [
      String(one.rows).padEnd(5),
      String(one.certain).padEnd(8),
      String(one.wrong).padEnd(6),
      share(right, one.certain).padEnd(10),
      share(right, one.ours).padEnd(9),
      String(one.byTime).padEnd(8),
      `${one.probable}, ${one.probableRight}`.padEnd(16),
      String(one.offBy).padEnd(23),
      name,
    ];
    say(cells.join(' '));
  }
  show({ what: `precision, worst of ${BILL_CASES.length} cases`, value: worst.precision, unit: '' });
  show({ what: 'recall, worst of them', value: worst.recall, unit: '' });
  show({ what: 'sums off by, worst of them', value: worst.offBy, unit: 'nano-USD' });
}

/** Only reads, parses and counts the rows. */
async function bareSeconds(file: string): Promise<number> {
  const from = process.hrtime.bigint();
  let count = 0;
  const lines = createInterface({ input: createReadStream(file, 'utf8'), crlfDelay: Infinity });
  for await (const line of lines) if (JSON.parse(line) !== null) count += 1;
  if (count !== ROWS) throw new Error(`Cannot read the rows: ${count} of ${ROWS}`);
  return Number(process.hrtime.bigint() - from) / 1e9;
}

async function sayCommand(dir: string): Promise<void> {
  await makeBigRun(dir, { rows: ROWS, conversations: CONVERSATIONS });
  const file = path.join(dir, EXPORT);
  const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
  say(`${ROWS} rows (${megabytes(statSync(file).size)}) and as many calls, ${CONVERSATIONS} conversations`);
  say(`reading the rows alone: ${(await bareSeconds(file)).toFixed(1)} s`);
  const env = { PATH: process.env['PATH'], HOME: os.homedir(), TMPDIR: os.tmpdir() };
  const args = [PARLEY, 'reconcile', RUN, '--rows', EXPORT, '--config', 'parley.yaml', '--json'];
  const { seconds, cpuSeconds, residentMb, stdout } = await measureCommand(args, { cwd: dir, env });
  show({ what: `the command over ${ROWS} rows`, value: seconds, unit: 's', aim: ['≤', 10] });
  show({ what: 'its processor', value: cpuSeconds, unit: 's' });
  show({ what: 'its largest resident memory', value: residentMb, unit: 'MB', aim: ['≤', 500] });
  const record = statSync(path.join(dir, 'out', RUN, 'reconciliation.json')).size;
  say(`a record of ${megabytes(record)}`);
  say(stdout.split('\n')[0] ?? '');
}

interface Measured {
  readonly seconds: number;
  /** User and system time: meaningful on a loaded machine, too. */
  readonly cpuSeconds: number;
  /** Largest resident memory, as the kernel counts it. */
  readonly residentMb: number;
  readonly stdout: string;
}

/** Printed by the process itself when it ends: the kernel reports to its parent only the sum of all children. */
const TELL =
  "process.on('exit',()=>{const {maxRSS,userCPUTime,systemCPUTime}=process.resourceUsage();" +
  "process.stderr.write('\\nmeasured '+JSON.stringify({maxRSS,cpu:userCPUTime+systemCPUTime})+'\\n')})";

/**
 * One command as a process of its own, and what it took: wall time, processor time, the most memory it ever had.
 * Owns the measuring; a command that fails is an error with its output.
 */
async function measureCommand(
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<Measured> {
  const begun = process.hrtime.bigint();
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(TELL)}`];
  const child = spawn(process.execPath, [...preload, ...args], {
    cwd,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr] = [[] as string[], [] as string[]];
  child.stdout.setEncoding('utf8').on('data', (text: string) => stdout.push(text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => stderr.push(text));
  const [code] = (await once(child, 'close')) as [number | null];
  const seconds = Number(process.hrtime.bigint() - begun) / 1e9;
  const told = /\nmeasured (\{.*\})/.exec(stderr.join(''))?.[1];
  if (code !== 0 || told === undefined)
    throw new Error(`Cannot measure ${args.join(' ')}: it ended with ${code}: ${stderr.join('')}`);
  const { maxRSS, cpu } = JSON.parse(told) as { readonly maxRSS: number; readonly cpu: number };
  return { seconds, cpuSeconds: cpu / 1e6, residentMb: maxRSS / 1_024, stdout: stdout.join('') };
}

sayCases();
const dir = realpathSync(mkdtempSync(path.join(os.tmpdir(), 'parley-bench-')));
try {
  await sayCommand(dir);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
