/** The summary of a run at GitHub Actions: when it is written, its bound, and that it never changes how a run ends. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost } from './fake-host.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { demoPlan, FINISHED, itemRow, JOB, RUN, runRow, SUCCEEDED } from './rows.ts';

const ROWS = { row: runRow(FINISHED), items: [itemRow('first', SUCCEEDED), itemRow('second', SUCCEEDED)] };

function setUp(env: Readonly<Record<string, string>>) {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), JOB);
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  const file = path.join(cwd, 'summary.md');
  const host = fakeHost({ plan: demoPlan(), onStart: () => ROWS, rows: ROWS });
  const shell = fakeShell({ cwd, host, env: { GITHUB_STEP_SUMMARY: file, ...env } });
  const run = (): Promise<number> => runCli(['run', 'job.yaml', '--no-preflight', '--run-id', RUN], shell);
  const text = (): string | null => {
    try {
      return readFileSync(file, 'utf8');
    } catch {
      return null;
    }
  };
  return { cwd, file, shell, run, text };
}

describe('parley run at GitHub Actions', () => {
  it('appends the summary to what the step has written already', async () => {
    const { file, run, text } = setUp({ GITHUB_ACTIONS: 'true' });
    writeFileSync(file, 'before\n');
    expect(await run()).toBe(0);
    expect(text()).toBe(`before\ngithub of ${RUN}\n\n`);
  });

  it.each([
    {},
    { GITHUB_ACTIONS: 'true', PARLEY_STEP_SUMMARY: 'off' },
    { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: '' },
  ])('writes none elsewhere, or where it is switched off: %j', async (env) => {
    const { run, text } = setUp(env);
    expect(await run()).toBe(0);
    expect(text()).toBeNull();
  });

  it('stays below the bound of a step, says so, and the run ends as it ends', async () => {
    const { file, shell, run, text } = setUp({ GITHUB_ACTIONS: 'true' });
    const before = 'x'.repeat(1024 * 1024 - 5);
    writeFileSync(file, before);
    expect(await run()).toBe(0);
    expect(text()).toBe(before);
    expect(shell.stderr.text).toContain('Cannot add to the job summary');
  });

  it('goes on when the file cannot be written', async () => {
    const { file, shell, run } = setUp({ GITHUB_ACTIONS: 'true' });
    mkdirSync(file);
    expect(await run()).toBe(0);
    expect(shell.stderr.text).toContain('Cannot write the job summary');
  });
});

describe('parley report --summary', () => {
  it.each(['github', 'slack'] as const)('prints it for %s, and nothing else', async (form) => {
    const { shell } = setUp({});
    expect(await runCli(['report', 'last', '--summary', form], shell)).toBe(0);
    expect(shell.stdout.text).toBe(`${form} of ${RUN}\n`);
  });

  it('has it in a record, and refuses another form and another run', async () => {
    const { shell } = setUp({});
    expect(await runCli(['report', 'last', '--summary', 'github', '--json'], shell)).toBe(0);
    expect(recordsOf(shell)[1]).toEqual({
      type: 'summary',
      run_id: RUN,
      form: 'github',
      text: `github of ${RUN}\n`,
    });
    expect(await runCli(['report', 'last', '--summary', 'teams'], shell)).toBe(2);
    expect(await runCli(['report', 'nobody', '--summary', 'github'], shell)).toBe(2);
  });
});
