/**
 * `npm run bench -- all [--only NAMES] [--without NAMES] [--minutes 12] [--write]`: runs the benches in turn and prints
 * the table of docs/bench.md; `--write` puts it there. Left out with a reason: a bench that fails, takes too long, or
 * lacks a program, and all that are left when the minutes are up.
 * Owns the order of events; which benches there are is in all/benches.ts.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { trySignal } from '../scripts/own-process.ts';
import { chosen } from './all/benches.ts';
import { FIGURES_FILE, toldIn, type Figure, type Skipped } from './all/figure.ts';
import { figureRow, figuresTable, pageWith } from './all/figures-table.ts';

const PAGE = path.resolve('docs/bench.md');
/** A bench that takes longer has lost its server, or its machine has other work. */
const BENCH_MS_MAX = 3 * 60_000;

const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    without: { type: 'string' },
    minutes: { type: 'string', default: '12' },
    write: { type: 'boolean', default: false },
  },
});

const UNTIL = Date.now() + Number(values.minutes) * 60_000;

/** The figures that one bench recorded; where it failed, also why there are no more. */
async function measured(command: string, file: string): Promise<readonly (Figure | Skipped)[]> {
  const boundMs = Math.min(BENCH_MS_MAX, UNTIL - Date.now());
  if (!(boundMs > 0)) return [{ what: 'all of it', skipped: `the ${values.minutes} minutes were up` }];
  process.stderr.write(`\n# ${command}\n`);
  const child = spawn(process.execPath, ['scripts/bench.js', ...command.split(' ')], {
    // A process group of its own, so that all its processes can be ended together.
    ...{ detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...process.env, [FIGURES_FILE]: file },
  });
  let last = '';
  for (const output of [child.stdout, child.stderr])
    output?.setEncoding('utf8').on('data', (text: string) => {
      process.stderr.write(text);
      last = text.trim().split('\n').at(-1) ?? last;
    });
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    if (child.pid !== undefined) trySignal(-child.pid, 'SIGKILL');
  }, boundMs);
  const [code] = (await once(child, 'close')) as [number | null];
  clearTimeout(timer);
  const told = toldIn(file);
  if (code === 0) return told;
  const why = isLate
    ? `it took longer than ${Math.ceil(boundMs / 1_000)} s`
    : `it ended with ${code ?? 'a signal'}: ${last}`;
  return [...told, { what: 'the rest', skipped: why }];
}

async function main(): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'parley-bench-all-'));
  const rows: string[] = [];
  try {
    for (const [index, command] of chosen(values.only, values.without).entries()) {
      const told = await measured(command, path.join(folder, `${index}.jsonl`));
      rows.push(...told.map((one) => figureRow(command, one)));
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const table = figuresTable(process.env['BENCH_PLACE'] ?? 'an unknown place', rows);
  if (values.write) writeFileSync(PAGE, pageWith(readFileSync(PAGE, 'utf8'), table));
  process.stdout.write(`${table}\n`);
}

await main();
