/**
 * docs/tutorial.md, typed as it stands: from an empty folder to a reconciled report.
 * Owns the typing, by whatever program is called `parley`, and what must have come of it. The port is a free one;
 * everything else is what a reader types.
 */
import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { expect } from 'vitest';
import { freePort } from '../../loopback/free-port.ts';
import { ROOT } from '../cli/parley-program.ts';
import { printedBlocks } from '../helpers/printed-commands.ts';

const PAGE = readFileSync(path.join(ROOT, 'docs/tutorial.md'), 'utf8');
/** Between the outputs of two blocks. */
const MARK = '=== block';

interface Typed {
  readonly code: number | null;
  /** One for each block. */
  readonly outputs: readonly string[];
  readonly errors: string;
}

/** One shell for the whole page, which ends at the first command that fails; it takes its children along. */
async function type(folder: string, program: string): Promise<Typed> {
  const bin = path.join(folder, 'bin');
  mkdirSync(bin);
  writeFileSync(path.join(bin, 'parley'), `#!/bin/sh\nexec "${process.execPath}" "${program}" "$@"\n`);
  chmodSync(path.join(bin, 'parley'), 0o755);
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_'));
  const env = {
    ...Object.fromEntries(inherited),
    PATH: `${bin}:${process.env['PATH'] ?? ''}`,
    NO_COLOR: '1',
  };
  const port = String(await freePort());
  const typed = printedBlocks(PAGE).map((block) => `${block.replaceAll('4010', port)}\necho "${MARK}"`);
  const script = `set -e\ntrap 'kill $(jobs -p) 2>/dev/null || true' EXIT\n${typed.join('\n')}\n`;
  const child = spawn('bash', ['-s'], { cwd: folder, env });
  const read = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (read.out += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (read.err += text));
  child.stdin.end(script);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { code, outputs: read.out.split(`${MARK}\n`), errors: read.err };
}

/** `folder` is empty; `program` is a module that Node runs as `parley`. */
export async function expectTutorial(folder: string, program: string): Promise<void> {
  const { code, outputs, errors } = await type(folder, program);
  expect(code, `${outputs.join('')}\n${errors}`).toBe(0);
  expect(outputs.length).toBe(printedBlocks(PAGE).length + 1);
  const whole = outputs.join('');
  expect(whole).toContain('job.yaml: ok, 3 conversations');
  expect(whole).toContain('run first-notes');
  const report = readFileSync(path.join(folder, 'notes/out/first-notes/report.md'), 'utf8');
  expect(report).toContain('note/tea');
  expect(whole).toContain('A friendly note.');
  // The figures that the page names.
  const records = whole.split('\n').filter((line) => line.startsWith('{"type":"reconciliation"'));
  expect(records.length).toBe(1);
  expect(JSON.parse(records[0] ?? '{}')).toMatchObject({
    rows: 6,
    total_nano_usd: 7_440_000,
    assigned_nano_usd: 7_440_000,
    ambiguous_nano_usd: 0,
    unassigned_nano_usd: 0,
    within_tolerance: true,
  });
  expect(outputs.at(-2)).toContain('admission.concurrency: 2 → 3');
  expect(outputs.at(-2)).toContain('~ note/tea');
}
