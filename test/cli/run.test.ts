/** `parley run`, `resume` and `cancel` beside a host in memory: output, Ctrl-C, exit codes. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { failed as failedCheck, passed, warned } from '../../host/finding.ts';
import { runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost, type FakeHostOptions } from './fake-host.ts';
import { fakeShell, recordsOf, runToEnd, until } from './fake-shell.ts';
import { expectGolden } from './golden-file.ts';
import { demoPlan, FINISHED, itemRow, JOB, RUN, runRow, START, SUCCEEDED } from './rows.ts';

const working = {
  row: runRow(),
  items: [itemRow('first'), itemRow('second', { phase: 'waiting', attempt: 0 })],
};
const done = { row: runRow(FINISHED), items: [itemRow('first', SUCCEEDED), itemRow('second', SUCCEEDED)] };
const failed = {
  row: runRow({ ...FINISHED, ended: { succeeded: 1, check_failed: 1 } }),
  items: [
    itemRow('first', SUCCEEDED),
    itemRow('second', {
      ...SUCCEEDED,
      outcome: 'check_failed',
      failureClass: 'agent_error',
      detail: 'exit code 1',
    }),
  ],
};

/** A folder with a job and a store that exists. */
function project(): string {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), JOB);
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  return cwd;
}

function setUp(options: FakeHostOptions & { readonly env?: Record<string, string> } = {}) {
  const host = fakeHost(options);
  const cwd = project();
  const shell = fakeShell({ cwd, host, env: options.env ?? {} });
  return { host, shell, cwd };
}

describe('parley run', () => {
  it('says the id first, prints changes to standard error and the result to standard output', async () => {
    const { host, shell } = setUp({ onStart: () => working, warnings: ['careful'] });
    const ended = runCli(['run', 'job.yaml', '--run-id', RUN], shell);
    await until(() => shell.stdout.text !== '');
    expect(shell.stdout.text).toBe(`run ${RUN}\n`);
    await until(() => shell.stderr.text.includes('run: running'));
    await shell.clock.advance(31_000);
    host.commit(done);
    expect(await ended).toBe(0);
    expect(host.started?.runId).toBe(RUN);
    expect(host.calls).toEqual(['close']);
    expectGolden('run-plain.out', `--- stdout\n${shell.stdout.text}--- stderr\n${shell.stderr.text}`);
  });

  it('makes an id of name, time and random digits', async () => {
    const { host, shell } = setUp({ onStart: () => done });
    await runCli(['run', 'job.yaml'], shell);
    expect(host.started?.runId).toBe('demo-20260102t030405-0001');
  });

  it('says with --json what happened as records, and nothing else', async () => {
    const { shell } = setUp({ onStart: () => failed, plan: demoPlan() });
    expect(await runCli(['run', 'job.yaml', '--run-id', RUN, '--json'], shell)).toBe(1);
    const records = recordsOf(shell);
    expect(records[0]).toEqual({ type: 'hello', schema: '1.0' });
    expect(records.map(({ type }) => type)).toEqual(['hello', 'launch', 'item', 'item', 'run', 'done']);
    expect(records.at(-1)).toMatchObject({
      run_id: RUN,
      exit_code: 1,
      results: `/results/${RUN}`,
      reports: [`/results/${RUN}/report.md`],
      next: `parley logs ${RUN} --failed`,
    });
  });

  it('runs a saved plan, and refuses one that was changed', async () => {
    const { host, shell, cwd } = setUp({ onStart: () => done });
    expect(await runCli(['plan', 'job.yaml', '--out', 'plan.json'], shell)).toBe(0);
    expect(await runCli(['run', 'plan.json'], shell)).toBe(0);
    expect(host.started?.plan).toEqual(demoPlan());
    writeFileSync(path.join(cwd, 'plan.json'), JSON.stringify({ ...demoPlan(), name: 'other' }));
    expect(await runCli(['run', 'plan.json'], shell)).toBe(2);
    expect(shell.stderr.text).toContain('Cannot use the plan "plan.json": its hash does not match');
  });

  it('starts nothing when something that the job needs is not there, and tells all of it', async () => {
    const findings = [
      passed('gateway', 'it answers'),
      warned('prices', 'none for "coder"', 'write one'),
      failedCheck('models', 'no model "coder"', 'list it'),
      failedCheck('repositories', 'no "acme/app"', 'make it'),
    ];
    const { host, shell } = setUp({ onStart: () => done, findings });
    expect(await runCli(['run', 'job.yaml'], shell)).toBe(2);
    expect([host.started, host.opened]).toEqual([null, null]);
    expectGolden('run-preflight.out', shell.stderr.text);
    expect(await runCli(['run', 'job.yaml', '--no-preflight'], shell)).toBe(0);
    expect(host.started).not.toBeNull();
    const json = setUp({ onStart: () => done, findings });
    expect(await runCli(['run', 'job.yaml', '--json'], json.shell)).toBe(2);
    expect(recordsOf(json.shell).map(({ type, check }) => check ?? type)).toEqual([
      ...['hello', 'prices', 'models', 'repositories', 'error'],
    ]);
  });

  it('starts in spite of a warning, which it says, and shows the first of many findings', async () => {
    const { host, shell } = setUp({ onStart: () => done, findings: [warned('prices', 'none', 'write one')] });
    expect(await runCli(['run', 'job.yaml'], shell)).toBe(0);
    expect(host.started).not.toBeNull();
    expect(shell.stderr.text).toContain('warning  prices          none\n         = write one\n');
    const many = Array.from({ length: 300 }, (_, at) => failedCheck('repositories', `no ${at}`, 'make it'));
    const other = setUp({ findings: many });
    expect(await runCli(['run', 'job.yaml'], other.shell)).toBe(2);
    expect(other.shell.stderr.text).toContain('and 280 more; --json has all\n');
    expect(other.shell.stderr.text).toContain('300 things that it needs are not there');
  });

  it('takes --concurrency into the plan', async () => {
    const { host, shell } = setUp({ onStart: () => done });
    expect(await runCli(['run', 'job.yaml', '--concurrency', '3'], shell)).toBe(0);
    expect(host.started?.plan.admission.concurrency).toBe(3);
    expect(host.started?.plan.hash).not.toBe(demoPlan().hash);
    expect(await runCli(['run', 'job.yaml', '--concurrency', 'many'], shell)).toBe(2);
  });

  it('drains at the first Ctrl-C, and ends with 3 when the run rests', async () => {
    const resting = { ...working, row: runRow({ mode: 'draining', reason: 'drained', inFlight: 0 }) };
    const { host, shell } = setUp({ onStart: () => working, onRequest: () => resting });
    const ended = runCli(['run', 'job.yaml', '--run-id', RUN], shell);
    await until(() => shell.stderr.text.includes('run: running'));
    shell.interrupt();
    expect(await ended).toBe(3);
    expect(host.requests).toMatchObject([{ type: 'drainRequested' }]);
    expect(shell.stdout.text).toContain(`next: parley resume ${RUN}`);
  });

  it('leaves the run at the second Ctrl-C, and says how to go on in the words of who called it', async () => {
    const env = { PARLEY_COMMAND: 'npm start --' };
    const { host, shell } = setUp({ onStart: () => working, onRequest: () => null, env });
    const ended = runCli(['run', 'job.yaml', '--run-id', RUN], shell);
    await until(() => shell.stderr.text.includes('run: running'));
    shell.interrupt();
    shell.interrupt();
    expect(await ended).toBe(130);
    expect(shell.stderr.text).toContain(`go on with: npm start -- resume ${RUN}`);
    expect(host.calls).toEqual(['close']);
  });

  it('starts nothing for a broken job, a broken deployment, or a missing secret', async () => {
    const { host, shell, cwd } = setUp();
    writeFileSync(path.join(cwd, 'job.yaml'), `${JOB}colour: red\n`);
    expect(await runCli(['run', 'job.yaml'], shell)).toBe(2);
    writeFileSync(path.join(cwd, 'job.yaml'), `${JOB}secrets: { t: { from: env, name: NOT_THERE } }\n`);
    expect(await runCli(['run', 'job.yaml'], shell)).toBe(2);
    expect(shell.stderr.text).toContain('JOB313');
    writeFileSync(path.join(cwd, 'parley.yaml'), 'stroe: {}\n');
    expect(await runCli(['run', 'job.yaml'], shell)).toBe(2);
    expect(shell.stderr.text).toContain('did you mean "store"?');
    expect(host.started).toBeNull();
  });

  it('ends with 5 when another process owns the data directory', async () => {
    const { shell } = setUp({ locked: true });
    expect(await runCli(['run', 'job.yaml'], shell)).toBe(5);
    expect(shell.stderr.text).toContain(
      'Cannot use it: process 1 owns it\n  = look at it with "parley status"',
    );
  });

  it('reports a bug with 70 and a file, and never with a stack trace', async () => {
    const cwd = project();
    const env = { PARLEY_DATA_DIR: cwd, MY_TOKEN: 'planted-secret-value' };
    const shell = fakeShell({ cwd, env });
    expect(await runCli(['run', 'job.yaml'], shell)).toBe(70);
    const file = /the report is (.*)/.exec(shell.stderr.text)?.[1] ?? '';
    expect(path.dirname(file)).toBe(path.join(cwd, 'reports'));
    expect(shell.stderr.text).not.toContain('    at ');
  });
});

describe('parley resume', () => {
  it('takes up what failed for passing reasons, or the classes named', async () => {
    const { host, shell } = setUp({ rows: working, plan: demoPlan(), onRequest: () => done });
    expect(await runCli(['resume', RUN], shell)).toBe(0);
    expect(host.requests).toMatchObject([
      { type: 'resumeRequested', classes: ['infra', 'rate_limited', 'quota', 'refused', 'timeout'] },
    ]);
    expect(await runCli(['resume', RUN, '--class', 'stuck,infra'], shell)).toBe(0);
    expect(host.requests[1]).toMatchObject({ classes: ['stuck', 'infra'] });
    expect(await runCli(['resume', RUN, '--class', 'bored'], shell)).toBe(2);
  });

  it('knows no run that is not there', async () => {
    const { shell } = setUp();
    expect(await runCli(['resume', RUN], shell)).toBe(2);
    expect(await runCli(['resume', 'NOT/AN ID'], shell)).toBe(2);
    expect(shell.stderr.text).toContain(`Cannot find the run "${RUN}"`);
  });
});

describe('parley cancel', () => {
  it('tells the engine that runs', async () => {
    const { host, shell } = setUp({ rows: working, locked: true });
    expect(await runCli(['cancel', RUN], shell)).toBe(0);
    expect(host.requests).toMatchObject([{ type: 'cancelRequested' }]);
    expect(shell.stdout.text).toBe(`the engine was told; look with: parley watch ${RUN}\n`);
  });

  it('ends the run itself when no engine runs', async () => {
    const cancelled = {
      row: runRow({ ...FINISHED, mode: 'cancelling', ended: { cancelled: 2 } }),
      items: [itemRow('first', { ...SUCCEEDED, outcome: 'cancelled' })],
    };
    const { host, shell } = setUp({ rows: working, plan: demoPlan(), onRequest: () => cancelled });
    expect(await runCli(['cancel', RUN], shell)).toBe(0);
    expect(host.requests).toMatchObject([{ type: 'cancelRequested' }]);
  });

  it('leaves a run that has finished', async () => {
    const { host, shell } = setUp({ rows: done });
    expect(await runCli(['cancel', RUN], shell)).toBe(0);
    expect(host.requests).toEqual([]);
  });
});

describe('the live table', () => {
  it('is drawn on a terminal, and gives it back before the summary', async () => {
    const host = fakeHost({ onStart: () => working });
    const shell = fakeShell({ cwd: project(), host, terminal: { columns: 100, rows: 24 } });
    const ended = runCli(['run', 'job.yaml', '--run-id', RUN], shell);
    await until(() => shell.stdout.text !== '');
    await shell.clock.advance(2_000);
    expect(shell.stderr.text).toContain('done 0/2  running 1  waiting 1');
    expect(shell.stderr.text).toContain('aaaaaaaa');
    host.commit(done);
    expect(await ended).toBe(0);
    expect(shell.stdout.text).toContain('demo: finished in 1m05s');
    expect(shell.stderr.text.endsWith('\u001b[?2026l') || shell.stderr.text.endsWith('\u001b[G')).toBe(true);
  });

  it.each([
    ['--plain', ['--plain'], {}],
    ['a CI', [], { CI: 'true' }],
  ])('gives way to lines for %s', async (_name, flags, env) => {
    const host = fakeHost({ onStart: () => done });
    const shell = fakeShell({ cwd: project(), host, env, terminal: { columns: 100, rows: 24 } });
    expect(await runToEnd(shell, ['run', 'job.yaml', ...flags])).toBe(0);
    expect(shell.stderr.text).not.toContain('\u001b[');
    expect(shell.stderr.text).toContain('first: succeeded');
    expect(shell.clock.now()).toBeGreaterThanOrEqual(START);
  });
});
