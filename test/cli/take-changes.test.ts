/** A run that goes on beside a changed job: what is printed, refused, applied; and amendments that `status` shows. */
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

/** One of two has failed: the run can go on, and `tolerate` of the demo counts it as a failure. */
const open: Rows = {
  row: runRow({ ...done.row, ended: { succeeded: 1, failed: 1 } }),
  items: [
    itemRow('first', { phase: 'ended', outcome: 'succeeded', endedAt: START }),
    itemRow('second', { phase: 'ended', outcome: 'failed', failureClass: 'agent_error', endedAt: START }),
  ],
};

function setUp(job: string, options: FakeHostOptions = {}) {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), job);
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  const host = fakeHost({ rows: done, plan: demoPlan(), ...options });
  return { host, shell: fakeShell({ cwd, host, env: { USER: 'ann' } }) };
}

const WAITING = { phase: 'waiting', attempt: 0, outcome: null, endedAt: null } as const;
const WORKING = { phase: 'working', attempt: 1, outcome: null, endedAt: null } as const;
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

  it('does not tell what is as it was, whatever became of it', async () => {
    const failed = itemRow('first', { phase: 'ended', outcome: 'failed', failureClass: 'infra' });
    const { shell } = setUp(CHANGED, { rows: { ...open, items: [failed, itemRow('second')] } });
    expect(await runCli(['resume', RUN, 'job.yaml'], shell)).toBe(2);
    expect(shell.stderr.text).toMatch(/against \S+: ~ 1 changed\n/);
    expect(shell.stderr.text).not.toContain('first');
  });

  it('takes up pace and budget once they are accepted, and names what stays as planned', async () => {
    const { host, shell } = setUp(CHANGED, { rows: open });
    expect(await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], shell)).toBe(1);
    const { hash } = demoPlan();
    expect(host.requests).toMatchObject([
      { type: 'settingsChanged', by: 'ann', settings: { concurrency: 3, startEveryMs: 2_000 } },
      {
        type: 'planAmended',
        by: 'ann',
        basePlanHash: hash,
        changed: [{ index: 1, isAnew: true, spec: { key: 'second' } }],
        added: [],
        retired: [],
      },
      { type: 'resumeRequested', by: 'ann' },
    ]);
    expect(host.amended).toMatchObject([
      {
        items: [{ key: 'first' }, { prompt: 'Do the other thing.' }],
        tolerate: { failed: 0 },
        admission: { concurrency: 3, startEveryMs: 2_000 },
      },
    ]);
    expect(shell.stderr.text).toContain('as planned: tolerate.failed');
    expect(shell.stderr.text).toContain('taken up: 1 changed conversation');
  });

  it('has pace and budget in its plan once they are accepted, and shows them as changed no more', async () => {
    const paced = JOB.replace(
      'defaults:',
      'admission: { concurrency: 3, rate: 30/min }\nbudget: { usd: 9 }\ndefaults:',
    );
    const planned = JOB.replace('defaults:', 'budget: { usd: 4 }\ndefaults:');
    const before = demoPlan(planned);
    const first = setUp(paced, { rows: open, plan: before });
    await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], first.shell);
    const [plan] = first.host.amended;
    expect(plan).toMatchObject({ admission: { concurrency: 3 }, budget: { nanoUsd: 9_000_000_000 } });
    expect(plan?.hash).not.toBe(before.hash);
    expect(first.host.requests).toMatchObject([
      { type: 'settingsChanged' },
      { type: 'planAmended', basePlanHash: before.hash, planHash: plan?.hash, changed: [], added: [] },
      { type: 'resumeRequested' },
    ]);
    const second = setUp(paced, { rows: open, plan: plan ?? before });
    await runCli(['resume', RUN, 'job.yaml'], second.shell);
    expect(second.shell.stderr.text).not.toContain('its job has changed');
    expect(second.host.requests.map(({ type }) => type)).toEqual(['resumeRequested']);
  });

  it('lets go of what the job no longer has and has not begun, and takes up what is new', async () => {
    const waiting = { ...open, items: [done.items[0] ?? itemRow('first'), itemRow('second', WAITING)] };
    const { host, shell } = setUp(WITHOUT_SECOND, { rows: waiting });
    await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], shell);
    expect(host.requests).toMatchObject([
      { type: 'planAmended', by: 'ann', changed: [], added: [{ key: 'third' }], retired: [1] },
      { type: 'resumeRequested' },
    ]);
    expect(host.amended[0]?.items.map(({ key, index }) => [key, index])).toEqual([
      ['first', 0],
      ['second', 1],
      ['third', 2],
    ]);
    expect(shell.stderr.text).toContain('taken up: 1 new conversation');
    expect(shell.stderr.text).toContain('cancelled: 1 conversation that the job no longer has');
  });

  it('says that who is in flight keeps what it was given, and that a success stays', async () => {
    const items = [itemRow('first', { outcome: 'succeeded', phase: 'ended' }), itemRow('second', WORKING)];
    const { host, shell } = setUp(JOB.replaceAll('thing', 'work'), { rows: { ...open, items } });
    await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], shell);
    expect(host.requests[0]).toMatchObject({ type: 'planAmended', changed: [{ index: 1 }] });
    expect(shell.stderr.text).toContain('as they are: 1 changed conversation that succeeded');
    expect(shell.stderr.text).toContain('as planned until the attempt in flight has ended');
  });

  it('takes up no conversation in a run that has ended for good', async () => {
    const items = ['first', 'second'].map((key) => itemRow(key, { outcome: 'succeeded', phase: 'ended' }));
    const { host, shell } = setUp(WITHOUT_SECOND, { rows: { ...done, items } });
    await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], shell);
    expect(host.requests.map(({ type }) => type)).toEqual(['resumeRequested']);
    expect(shell.stderr.text).toContain('the run has ended for good; start another one');
  });

  it('lets no run grow beyond what it hosts itself, and one in shards as far as it wants', async () => {
    const many = (count: number): string =>
      JOB.replace('    prompt: Do the second', `    repeat: ${count}\n    prompt: Do the second`);
    const small = setUp(many(600), { plan: demoPlan(many(490)), rows: open });
    await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], small.shell);
    expect(small.host.requests.map(({ type }) => type)).toEqual(['resumeRequested']);
    expect(small.shell.stderr.text).toContain('began with at most 500 does not grow beyond that');
    const large = setUp(many(600), { plan: demoPlan(many(590)), rows: open });
    await runCli(['resume', RUN, 'job.yaml', '--accept-changes'], large.shell);
    expect(large.host.requests.map(({ type }) => type)).toEqual(['planAmended', 'resumeRequested']);
    expect(large.shell.stderr.text).toContain('taken up: 10 new conversations');
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
    const { host, shell } = setUp(CHANGED, { rows: open });
    expect(await runCli(['run', 'job.yaml', '--run-id', RUN], shell)).toBe(2);
    expect(shell.stderr.text).toContain('~ second');
    expect(host.started).toBeNull();
    expect(await runCli(['run', 'job.yaml', '--run-id', RUN, '--accept-changes'], shell)).toBe(1);
    expect(host.requests).toMatchObject([
      { type: 'settingsChanged', settings: { concurrency: 3 } },
      { type: 'planAmended', changed: [{ index: 1 }] },
    ]);
    expect(host.started?.plan.hash).toBe(host.amended[0]?.hash);
    expect(host.started?.plan.hash).not.toBe(demoPlan().hash);
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
