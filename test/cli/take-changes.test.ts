/** A run that goes on beside a job that has changed: what is told, refused, taken up; and amendments that `status` shows. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost, type FakeHostOptions, type Rows } from './fake-host.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { demoPlan, itemRow, JOB, RUN, runRow, START } from './rows.ts';

const done: Rows = {
  row: runRow({ phase: 'finished', waiting: 0, inFlight: 0, ended: { succeeded: 2 }, endedAt: START }),
  items: [itemRow('first', { outcome: 'succeeded', endedAt: START }), itemRow('second')],
};

function setUp(job: string, options: FakeHostOptions = {}) {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), job);
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  const host = fakeHost({ rows: done, plan: demoPlan(), ...options });
  return { host, shell: fakeShell({ cwd, host, env: { USER: 'ann' } }) };
}

const CHANGED = JOB.replace('Do the second', 'Do the other').replace(
  'defaults:',
  'admission: { concurrency: 3, rate: 30/min }\ntolerate: { failed: 1 }\ndefaults:',
);
const WITHOUT_SECOND = JOB.replace(/ {2}- id: second\n.*\n/, '  - id: third\n    prompt: Do more.\n');

describe('parley resume RUN FILE', () => {
  it('goes on when the job is as it was planned', async () => {
    const { host, shell } = setUp(JOB);
    expect(await runCli(['resume', RUN, 'job.yaml'], shell)).toBe(0);
    expect(host.requests.map(({ type }) => type)).toEqual(['resumeRequested']);
  });

  it('says field by field what has changed, and asks nothing of the run', async () => {
    const { host, shell } = setUp(CHANGED);
    expect(await runCli(['resume', RUN, 'job.yaml'], shell)).toBe(2);
    expect(host.requests).toEqual([]);
    expect(host.calls).toContain('close');
    expect(shell.stderr.text).toContain('admission.concurrency: 10 → 3');
    expect(shell.stderr.text).toContain('~ second');
    expect(shell.stderr.text).toContain('"Do the second thing." → "Do the other thing."');
    expect(shell.stderr.text).toContain('its job has changed');
    expect(shell.stderr.text).toContain('--accept-changes');
  });

  it('takes up pace and budget once they are accepted, and names what stays as planned', async () => {
    const { host, shell } = setUp(CHANGED);
    expect(await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], shell)).toBe(0);
    expect(host.requests).toMatchObject([
      { type: 'settingsChanged', by: 'ann', settings: { concurrency: 3, startEveryMs: 2_000 } },
      { type: 'resumeRequested', by: 'ann' },
    ]);
    expect(shell.stderr.text).toContain('as planned: tolerate.failed');
    expect(shell.stderr.text).toContain('as planned: 1 changed conversation; run them anew');
  });

  it('cancels what the job no longer has and has not ended, and says what is new', async () => {
    const { host, shell } = setUp(WITHOUT_SECOND);
    expect(await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], shell)).toBe(0);
    expect(host.requests).toMatchObject([
      { type: 'cancelRequested', by: 'ann', keys: ['second'] },
      { type: 'resumeRequested' },
    ]);
    expect(shell.stderr.text).toContain('not part of the run: 1 new conversation');
  });

  it('refuses another job, a broken one, and an acceptance of nothing', async () => {
    const other = setUp(JOB.replace('name: demo', 'name: other'));
    expect(await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], other.shell)).toBe(2);
    expect(other.shell.stderr.text).toContain('its job is "demo", not "other"');
    const broken = setUp('kind: job\n');
    expect(await runCli(['resume', RUN, 'job.yaml'], broken.shell)).toBe(2);
    expect(await runCli(['resume', RUN, '--accept-changes'], broken.shell)).toBe(2);
    expect([...other.host.requests, ...broken.host.requests]).toEqual([]);
  });
});

describe('parley run --run-id of a run that exists', () => {
  it('is refused with what has changed, and goes on with the plan of the run once it is accepted', async () => {
    const { host, shell } = setUp(CHANGED);
    expect(await runCli(['run', 'job.yaml', '--run-id', RUN], shell)).toBe(2);
    expect(shell.stderr.text).toContain('~ second');
    expect(host.started).toBeNull();
    expect(await runCli(['run', 'job.yaml', '--run-id', RUN, '--accept-changes'], shell)).toBe(0);
    expect(host.requests).toMatchObject([{ type: 'settingsChanged', settings: { concurrency: 3 } }]);
    expect(host.started?.plan.hash).toBe(demoPlan().hash);
  });
});

describe('parley status RUN', () => {
  const about = { machine: 'run', id: RUN } as const;
  const runEvents = [
    { about, conversationId: null, code: 'run_amended', detail: 'concurrency 10 -> 3, by ann', at: START },
    { about, conversationId: null, code: 'budget_soft', detail: 'spent 80 %', at: START + 1_000 },
  ];

  it('shows amendments with when and who, and what the run said', async () => {
    const { shell } = setUp(JOB, { runEvents });
    expect(await runCli(['status', RUN], shell)).toBe(0);
    expect(shell.stdout.text).toContain('2026-01-02 03:04:05Z  amended: concurrency 10 -> 3, by ann\n');
    expect(shell.stdout.text).toContain('2026-01-02 03:04:06Z  budget_soft: spent 80 %\n');
  });

  it('has them as records', async () => {
    const { shell } = setUp(JOB, { runEvents });
    expect(await runCli(['status', RUN, '--json'], shell)).toBe(0);
    expect(recordsOf(shell).slice(-2)).toEqual([
      { type: 'amendment', run_id: RUN, at: START, what: 'concurrency 10 -> 3', by: 'ann' },
      { type: 'run_event', run_id: RUN, at: START + 1_000, code: 'budget_soft', detail: 'spent 80 %' },
    ]);
  });
});
