/** `parley export`, `graph` and `completion`, and what `wait --for` waits for. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES, runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost, type FakeHostOptions } from './fake-host.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { expectGolden } from './golden-file.ts';
import { demoPlan, FINISHED, itemRow, JOB, RUN, runRow, SUCCEEDED } from './rows.ts';

const FAILED = {
  phase: 'ended',
  outcome: 'failed',
  failureClass: 'infra',
  detail: '=cmd, "quoted"\nsecond line',
} as const;
const done = {
  row: runRow({ ...FINISHED, ended: { succeeded: 1, failed: 1 } }),
  items: [itemRow('first', SUCCEEDED), itemRow('second', FAILED)],
};
const STAGES = `kind: job
version: 1
name: stages
defaults: { model: coder, repo: acme/a }
conversations:
  - { id: plan, matrix: { part: [a, b] }, prompt: 'Plan.', tags: { team: 'x"y' } }
  - { id: do, matrix: { part: [a, b] }, prompt: 'Do.', needs: [{ entry: plan, each: true }] }
  - { id: look, prompt: 'Look.', needs: [{ entry: do, outcome: ended }] }
deliver: bot/{run}/{key}
reconcile: { rows: proxy }
report: [{ to: report.md }]
`;

function setUp(options: FakeHostOptions = {}, job = JOB) {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), job);
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  return { cwd, shell: fakeShell({ cwd, host: fakeHost({ rows: done, plan: demoPlan(), ...options }) }) };
}

describe('parley export', () => {
  it('prints one JSON object for each conversation, and nothing else', async () => {
    const { shell } = setUp();
    expect(await runCli(['export', RUN], shell)).toBe(0);
    const rows = shell.stdout.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as object);
    expect(rows).toMatchObject([
      { run: RUN, key: 'first', entry: 'first', model: 'coder', outcome: 'succeeded', duration_ms: 60_000 },
      { key: 'second', outcome: 'failed', failure_class: 'infra', detail: FAILED.detail, ended_at: null },
    ]);
    expect(new Set(rows.map((row) => Object.keys(row).join())).size).toBe(1);
  });

  it('writes CSV that a spreadsheet takes as text: quotes, line breaks, no formula', async () => {
    const { cwd, shell } = setUp();
    expect(await runCli(['export', RUN, '--format', 'csv', '--out', 'run.csv'], shell)).toBe(0);
    expect(shell.stdout.text).toBe('');
    const text = readFileSync(path.join(cwd, 'run.csv'), 'utf8');
    expect(text.startsWith('run,key,entry,model,repository,phase,')).toBe(true);
    expect(text).toContain(`"'=cmd, ""quoted""\nsecond line"`);
  });

  it('has columns for axes, tags and branches of the plan', async () => {
    const plan = demoPlan(STAGES);
    const items = plan.items.map(({ key }) => itemRow(key, SUCCEEDED));
    const { shell } = setUp({ plan, rows: { row: runRow({ total: items.length }), items } });
    expect(await runCli(['export', RUN], shell)).toBe(0);
    expect(JSON.parse(shell.stdout.text.split('\n')[0] ?? '')).toMatchObject({
      repository: 'acme/a',
      'matrix.part': 'a',
      'tag.team': 'x"y',
      branch: null,
      delivery: null,
    });
  });

  it('ends with 2 for a run that there is not, and for a file that cannot be written', async () => {
    const { shell } = setUp();
    expect(await runCli(['export', 'nobody'], shell)).toBe(2);
    expect(await runCli(['export', RUN, '--out', 'no/such/folder'], shell)).toBe(2);
  });
});

describe('parley graph', () => {
  it.each(['mermaid', 'dot'])('draws stages and what follows as %s', async (format) => {
    const { shell } = setUp({}, STAGES);
    expect(await runCli(['graph', 'job.yaml', '--format', format], shell)).toBe(0);
    expectGolden(`graph/stages.${format}`, shell.stdout.text);
  });

  it('gives stages and edges with --json, and 1 for a job with errors', async () => {
    const { shell } = setUp({}, STAGES);
    expect(await runCli(['graph', 'job.yaml', '--json'], shell)).toBe(0);
    expect(recordsOf(shell)[1]).toMatchObject({
      type: 'graph',
      stages: expect.arrayContaining([{ node: 's0', name: 'plan', count: 2 }]),
      edges: expect.arrayContaining([{ from: 's0', to: 's1', says: 'each' }]),
    });
    const broken = setUp({}, 'kind: job\n');
    expect(await runCli(['graph', 'job.yaml'], broken.shell)).toBe(1);
  });
});

describe('parley completion', () => {
  async function script(shell: string): Promise<string> {
    const around = setUp();
    expect(await runCli(['completion', shell], around.shell)).toBe(0);
    return around.shell.stdout.text;
  }

  it.each(['bash', 'zsh', 'fish'])('names every command for %s', async (shell) => {
    const text = await script(shell);
    for (const name of COMMAND_NAMES) expect(text).toMatch(new RegExp(`\\b${name}\\b`));
    expect(text).not.toContain('undefined');
  });

  it('completes commands, flags and their values in a real bash', async () => {
    const folder = tempDir();
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'completion.bash'), await script('bash'));
    const complete = (...words: readonly string[]): readonly string[] => {
      const line = words.map((word) => `'${word}'`).join(' ');
      const program = `source completion.bash; COMP_WORDS=(parley ${line}); COMP_CWORD=${words.length}; _parley; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return execFileSync('bash', ['-c', program], { cwd: folder, encoding: 'utf8' }).trimEnd().split('\n');
    };
    expect(complete('ex')).toEqual(['export', 'explain']);
    expect(complete('export', '--fo')).toEqual(['--format']);
    expect(complete('export', '--format', '')).toEqual(['jsonl', 'csv']);
    expect(complete('temporal', 'dr')).toEqual(['drain']);
    expect(complete('completion', 'z')).toEqual(['zsh']);
  });

  it('completes ids of runs, which it asks the program for', async () => {
    const folder = tempDir();
    writeFileSync(path.join(folder, 'completion.bash'), await script('bash'));
    writeFileSync(
      path.join(folder, 'parley'),
      '#!/bin/sh\n[ "$*" = "completion runs" ] && printf "last\\ndemo-1\\ndemo-2\\n"',
      {
        mode: 0o755,
      },
    );
    const program =
      'source completion.bash; COMP_WORDS=(./parley watch demo); COMP_CWORD=2; _parley; printf \'%s\\n\' "${COMPREPLY[@]}"';
    expect(execFileSync('bash', ['-c', program], { cwd: folder, encoding: 'utf8' })).toBe('demo-1\ndemo-2\n');
    const around = setUp();
    expect(await runCli(['completion', 'runs'], around.shell)).toBe(0);
    expect(around.shell.stdout.text).toBe(`last\n${RUN}\n`);
    const without = fakeShell({ cwd: folder });
    expect(await runCli(['completion', 'runs'], without)).toBe(0);
    expect(without.stdout.text).toBe('');
  });

  it('is a script that bash takes', async () => {
    expect(spawnSync('bash', ['-n'], { input: await script('bash') }).status).toBe(0);
  });
});

describe('parley wait --for', () => {
  it('ends as soon as one conversation has ended, with what became of it', async () => {
    const { shell } = setUp({ rows: { ...done, row: runRow({ ended: { succeeded: 1, failed: 1 } }) } });
    expect(await runCli(['wait', RUN, '--for', 'key=first'], shell)).toBe(0);
    expect(await runCli(['wait', RUN, '--for', 'key=second'], shell)).toBe(1);
    expect(await runCli(['wait', RUN, '--for', 'key=frist'], shell)).toBe(2);
    expect(shell.stderr.text).toContain('did you mean "first"?');
  });

  it('ends as soon as something is at work, or when the time is over', async () => {
    const { shell } = setUp({ rows: { row: runRow(), items: [itemRow('first')] } });
    expect(await runCli(['wait', RUN, '--for', 'running'], shell)).toBe(0);
    const idle = setUp({ rows: { row: runRow({ inFlight: 0, waiting: 2 }), items: [] } });
    const ended = runCli(['wait', RUN, '--for', 'running', '--timeout', '5s'], idle.shell);
    await idle.shell.clock.advance(6_000);
    expect(await ended).toBe(3);
    expect(await runCli(['wait', RUN, '--for', 'ever'], idle.shell)).toBe(2);
  });
});
