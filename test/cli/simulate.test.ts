/** `parley simulate`: text that fits the terminal, records, a trace, and refusals. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { JOB } from './rows.ts';

function withJob() {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), JOB);
  return fakeShell({ cwd, env: {} });
}

describe('parley simulate', () => {
  it('draws, counts and prices, the same every time', async () => {
    const shell = withJob();
    expect(await runCli(['simulate', 'job.yaml'], shell)).toBe(0);
    const lines = shell.stdout.text.split('\n');
    expect(lines[0]).toBe('demo: 2 conversations, simulated; finished');
    expect(lines[2]).toMatch(/^ {8}0 +\S+ +\S+$/);
    expect(lines[3]).toMatch(/^first {3}s*#+$/);
    expect(lines[5]).toBe('. queued   s starting   # working   - paused');
    // Figures move with the rules and the models; what they are is tested where they are made.
    const figures = ['makespan', 'ended', 'cost', 'sandboxes at once', 'limits met', 'steps'];
    expect(lines.slice(7, -1).map((line) => line.split(/:|(?<=steps|met)\b/)[0])).toEqual(figures);
    expect(Math.max(...shell.stdout.text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    const again = withJob();
    await runCli(['simulate', 'job.yaml'], again);
    expect(again.stdout.text).toBe(shell.stdout.text);
  });

  it('prints records, and writes a trace whose last hash is the answer', async () => {
    const shell = withJob();
    expect(
      await runCli(
        ['simulate', 'job.yaml', '--seed', '3', '--until', '2d', '--json', '--trace', 't.jsonl'],
        shell,
      ),
    ).toBe(0);
    const records = recordsOf(shell);
    expect(records.map(({ type }) => type)).toEqual(['hello', 'simulated', 'simulated', 'simulation']);
    const lines = readFileSync(path.join(shell.cwd, 't.jsonl'), 'utf8').trimEnd().split('\n');
    const last = JSON.parse(lines.at(-1) ?? '') as { hash: string };
    expect(records.at(-1)).toMatchObject({ seed: 3, hash: last.hash, steps: lines.length });
  });

  it('refuses what it cannot use', async () => {
    for (const args of [
      ['--seed', 'x'],
      ['--seed', '-1'],
      ['--until', 'soon'],
      ['--until', '0s'],
      ['--trace', 'no/such/folder/t'],
    ])
      expect(await runCli(['simulate', 'job.yaml', ...args], withJob())).toBe(2);
    const shell = withJob();
    writeFileSync(path.join(shell.cwd, 'job.yaml'), 'kind: job\n');
    expect(await runCli(['simulate', 'job.yaml'], shell)).toBe(1);
  });
});
