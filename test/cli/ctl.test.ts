/** `parley ctl`, `wait` and `resume --set` beside a host in memory: what is asked of whom, and what is refused. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost, type FakeHostOptions } from './fake-host.ts';
import { fakeShell, recordsOf, until } from './fake-shell.ts';
import { demoPlan, FINISHED, itemRow, JOB, RUN, runRow, SUCCEEDED } from './rows.ts';

const working = {
  row: runRow(),
  items: [itemRow('first'), itemRow('second', { phase: 'waiting', attempt: 0 })],
};
const done = { row: runRow(FINISHED), items: [itemRow('first', SUCCEEDED), itemRow('second', SUCCEEDED)] };
const heldByUser = { row: runRow({ mode: 'paused', reason: 'user', inFlight: 0 }), items: working.items };

function setUp(options: FakeHostOptions = {}) {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), JOB);
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  const host = fakeHost({ rows: working, ...options });
  return { host, shell: fakeShell({ cwd, host, env: { USER: 'ann' } }) };
}

describe('parley ctl', () => {
  it.each([
    [['pause'], { type: 'holdRequested' }],
    [['drain'], { type: 'drainRequested' }],
    [['resume'], { type: 'resumeRequested', classes: [] }],
    [
      ['set', 'concurrency=20', 'rate=30/min', 'budget=1.50'],
      {
        type: 'settingsChanged',
        settings: { concurrency: 20, startEveryMs: 2_000, budgetNanoUsd: 1_500_000_000 },
      },
    ],
    [['set', 'rate=none'], { type: 'settingsChanged', settings: { startEveryMs: null } }],
    [['requeue', 'first'], { type: 'requeueRequested', keys: ['first'] }],
    [['cancel'], { type: 'cancelRequested' }],
    [['cancel', 'first', 'second'], { type: 'cancelRequested', keys: ['first', 'second'] }],
  ])('tells the engine that runs it, and who asks: %j', async (args, event) => {
    const { host, shell } = setUp({ locked: true });
    expect(await runCli(['ctl', RUN, ...args], shell)).toBe(0);
    expect(host.requests).toEqual([{ requestId: expect.stringMatching(/^ctl-/), by: 'ann', ...event }]);
    expect(shell.stdout.text).toContain(`the engine was told: ${args.join(' ')}`);
    expect(host.calls).toEqual(['close']);
  });

  it.each([
    [['stop'], 'there is no such action'],
    [['pauze'], 'did you mean pause?'],
    [['pause', 'first'], 'pause is about the whole run'],
    [['set'], 'no setting is named'],
    [['set', 'concurrency=0'], 'it is no setting of a run'],
    [['set', 'speed=9'], 'concurrency=20'],
    [['set', 'budget=-1'], 'it is no setting of a run'],
    [['requeue'], 'no key is named'],
    [['requeue', 'frist'], 'did you mean "first"?'],
    [['cancel', 'nobody'], 'the run has no such key'],
  ])('tells nobody of what makes no sense: %j', async (args, words) => {
    const { host, shell } = setUp({ locked: true });
    expect(await runCli(['ctl', RUN, ...args], shell)).toBe(2);
    expect(shell.stderr.text).toContain(words);
    expect(host.requests).toEqual([]);
  });

  it.each([['pause'], ['drain'], ['resume'], ['set', 'concurrency=3'], ['cancel'], ['requeue', 'first']])(
    'tells nobody to %s a run that has ended',
    async (...args) => {
      const { host, shell } = setUp({ locked: true, rows: done });
      expect(await runCli(['ctl', RUN, ...args], shell)).toBe(2);
      expect(shell.stderr.text).toContain('it has ended');
      expect(shell.stderr.text).toContain('start another run');
      expect(host.requests).toEqual([]);
    },
  );

  it('takes up by key what did not succeed in a run that has ended, and names the way for the rest', async () => {
    const failed = itemRow('second', { phase: 'ended', outcome: 'failed' });
    const rows = {
      row: runRow({ ...FINISHED, ended: { succeeded: 1, failed: 1 } }),
      items: [itemRow('first', SUCCEEDED), failed],
    };
    const { host, shell } = setUp({ locked: true, rows });
    expect(await runCli(['ctl', RUN, 'requeue', 'second'], shell)).toBe(0);
    expect(host.requests).toMatchObject([{ type: 'requeueRequested', keys: ['second'] }]);
    expect(await runCli(['ctl', RUN, 'cancel'], shell)).toBe(2);
    expect(shell.stderr.text).toContain(`parley resume ${RUN}`);
  });

  it('says when nobody runs it, and how to go on', async () => {
    const { shell } = setUp();
    expect(await runCli(['ctl', RUN, 'pause'], shell)).toBe(5);
    expect(shell.stderr.text).toContain(`parley resume ${RUN}`);
  });

  it('asks the Temporal server itself when nobody owns the data, and says when no worker is there', async () => {
    const taken = setUp({ server: 'taken' });
    expect(await runCli(['ctl', RUN, 'drain'], taken.shell)).toBe(0);
    expect(taken.host.requests).toMatchObject([{ type: 'drainRequested' }]);
    expect(taken.shell.stderr.text).toBe('');
    const kept = setUp({ server: 'kept' });
    expect(await runCli(['ctl', RUN, 'drain', '--engine', 'temporal'], kept.shell)).toBe(0);
    expect(kept.shell.stderr.text).toContain('no worker asks for work');
  });

  it('gives a record with --json, and code 2 for a run that there is not', async () => {
    const { shell } = setUp({ locked: true });
    expect(await runCli(['ctl', RUN, 'set', 'concurrency=3', '--json'], shell)).toBe(0);
    expect(recordsOf(shell).slice(1)).toMatchObject([
      { type: 'ctl', run_id: RUN, action: 'set', values: ['concurrency=3'] },
    ]);
    expect(await runCli(['ctl', 'nobody', 'pause'], shell)).toBe(2);
  });
});

describe('parley wait', () => {
  it('ends with the exit code of the run', async () => {
    const { host, shell } = setUp();
    const ended = runCli(['wait', RUN], shell);
    await shell.clock.advance(10_000);
    host.commit(done);
    await shell.clock.advance(1_000);
    expect(await ended).toBe(0);
    expect(shell.stdout.text).toBe('finished: done 2/2, running 0, waiting 0, failed 0\n');
  });

  it('waits on while a person has paused the run, and gives up after --timeout with code 3', async () => {
    const { shell } = setUp({ rows: heldByUser });
    const ended = runCli(['wait', RUN, '--timeout', '30s', '--json'], shell);
    await shell.clock.advance(29_000);
    expect(shell.stdout.text).toBe('');
    await shell.clock.advance(2_000);
    expect(await ended).toBe(3);
    expect(recordsOf(shell).slice(1)).toMatchObject([{ mode: 'paused', reason: 'user' }]);
  });

  it('stops on Ctrl-C, and refuses what is no duration', async () => {
    const { shell } = setUp();
    const ended = runCli(['wait', RUN], shell);
    await shell.clock.advance(1_000);
    shell.interrupt();
    expect(await ended).toBe(130);
    expect(await runCli(['wait', RUN, '--timeout', 'soon'], shell)).toBe(2);
  });
});

describe('parley resume --set', () => {
  it('changes the settings first, then goes on', async () => {
    const { host, shell } = setUp({
      plan: demoPlan(),
      onRequest: ({ type }) => (type === 'resumeRequested' ? done : null),
    });
    expect(await runCli(['resume', RUN, '--class', 'quota', '--set', 'budget=9', 'rate=1/s'], shell)).toBe(0);
    expect(host.requests).toMatchObject([
      { type: 'settingsChanged', by: 'ann', settings: { budgetNanoUsd: 9_000_000_000, startEveryMs: 1_000 } },
      { type: 'resumeRequested', by: 'ann', classes: ['quota'] },
    ]);
  });
});

describe('parley run with a part of a plan', () => {
  it.each([
    [['--only', 'fir*'], { items: ['first'], canary: undefined }],
    [['--limit', '1'], { items: ['first'], canary: undefined }],
    [['--canary', '1'], { items: ['first', 'second'], canary: 1 }],
  ])('makes a plan of its own: %j', async (args, expected) => {
    const { host, shell } = setUp({ rows: null, onStart: () => done });
    expect(await runCli(['run', 'job.yaml', '--run-id', RUN, ...args], shell)).toBe(0);
    const plan = host.started?.plan;
    expect(plan?.items.map(({ key }) => key)).toEqual(expected.items);
    expect(plan?.items.map(({ index }) => index)).toEqual(expected.items.map((_, index) => index));
    expect(plan?.admission.canary).toBe(expected.canary);
    const whole = setUp({ rows: null, onStart: () => done });
    await runCli(['run', 'job.yaml', '--run-id', RUN], whole.shell);
    expect(plan?.hash).not.toBe(whole.host.started?.plan.hash);
  });

  it('starts nothing when nothing is left', async () => {
    const { host, shell } = setUp({ rows: null });
    expect(await runCli(['run', 'job.yaml', '--only', 'x*'], shell)).toBe(2);
    expect(await runCli(['run', 'job.yaml', '--limit', '0'], shell)).toBe(2);
    expect(host.started).toBeNull();
  });
});

describe('parley run --detach', () => {
  it('starts another process with the same job, and ends when the run is known', async () => {
    const { host, shell } = setUp({ rows: null });
    const ended = runCli(['run', 'job.yaml', '--run-id', RUN, '--detach', '--only', 'f*'], shell);
    await until(() => shell.detached.length > 0);
    expect(shell.detached).toEqual([
      ['run', 'job.yaml', '--run-id', RUN, '--plain', '--no-preflight', '--only', 'f*'],
    ]);
    host.commit(working);
    await shell.clock.advance(1_000);
    expect(await ended).toBe(0);
    expect(shell.stdout.text).toContain(`parley watch ${RUN}`);
    expect(host.started).toBeNull();
  });

  it('says where to read when that process ends first', async () => {
    const { host } = setUp({ rows: null });
    const cwd = tempDir();
    writeFileSync(path.join(cwd, 'job.yaml'), JOB);
    writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
    const shell = fakeShell({ cwd, host, detachedEnds: Promise.resolve(2) });
    const ended = runCli(['run', 'job.yaml', '--run-id', RUN, '--detach'], shell);
    await shell.clock.advance(1_000);
    expect(await ended).toBe(2);
    expect(shell.stderr.text).toContain(`${RUN}.log`);
  });
});
