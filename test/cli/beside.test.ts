/** Commands that work beside a run: status, watch, logs, collect, reconcile, report, and programs of their own. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'libsql';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openReader } from '../../host/owner/reader.ts';
import { runCli } from '../../cli/program.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost, SUMMARY, type FakeHostOptions } from './fake-host.ts';
import { fakeShell, recordsOf, runToEnd, until } from './fake-shell.ts';
import { expectGolden } from './golden-file.ts';
import { demoPlan, FINISHED, itemRow, RUN, runRow, START, SUCCEEDED } from './rows.ts';

const working = {
  row: runRow(),
  items: [itemRow('first'), itemRow('second', { phase: 'waiting', attempt: 0 })],
};
const done = { row: runRow(FINISHED), items: [itemRow('first', SUCCEEDED), itemRow('second', SUCCEEDED)] };

function setUp(options: FakeHostOptions = {}) {
  const host = fakeHost(options);
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  return { host, shell: fakeShell({ cwd, host }) };
}

describe('parley status', () => {
  it('lists runs, and one run with its conversations', async () => {
    const { shell } = setUp({ rows: working, plan: demoPlan() });
    expect(await runCli(['status'], shell)).toBe(0);
    expect(await runCli(['status', RUN], shell)).toBe(0);
    expectGolden('status.out', shell.stdout.text);
  });

  it('says the same as records', async () => {
    const { shell } = setUp({ rows: working });
    await runCli(['status', RUN, '--json'], shell);
    expect(recordsOf(shell).map(({ type }) => type)).toEqual(['hello', 'run', 'item', 'item']);
  });

  it('says so where nothing ever ran, and of an unknown run', async () => {
    const empty = fakeShell({ cwd: tempDir() });
    expect(await runCli(['status'], empty)).toBe(0);
    expect(empty.stderr.text).toBe('no runs yet; start one with: parley run job.yaml\n');
    const { shell } = setUp({ rows: working });
    expect(await runCli(['status', 'other'], shell)).toBe(2);
    expect(await runCli(['status', '--limit', '0'], shell)).toBe(2);
  });
});

describe('a store that nobody has written to', () => {
  it.each(['empty', 'in whose first tables another process is at work', 'with the tables of others'])(
    '%s holds no run',
    async (state) => {
      const { shell: inMemory } = setUp();
      const shell = fakeShell({ cwd: inMemory.cwd, host: { ...fakeHost(), openReader } });
      const other = new Database(path.join(shell.cwd, 'parley.db'));
      onTestFinished(() => void other.close());
      if (state !== 'empty') other.exec('pragma journal_mode = wal; begin immediate; create table runs (id)');
      if (state.startsWith('with')) other.exec('commit');
      expect(await runCli(['status', RUN], shell)).toBe(2);
      expect(shell.stderr.text).toContain(`Cannot find the run "${RUN}": there is no run of this id`);
      expect(await runCli(['status'], shell)).toBe(0);
      expect(shell.stderr.text).toContain('no runs yet');
    },
  );
});

describe('parley watch', () => {
  it('follows to the end and ends as the run does', async () => {
    const { host, shell } = setUp({ rows: working, plan: demoPlan() });
    const ended = runCli(['watch', RUN], shell);
    await until(() => shell.stderr.text.includes('first: working'));
    host.commit({ ...done, row: runRow({ ...FINISHED, ended: { succeeded: 1, failed: 1 } }) });
    await shell.clock.advance(2_000);
    expect(await ended).toBe(1);
    expect(shell.stderr.text).toContain('first: working, sandbox aaaaaaaa');
  });

  it('stops at Ctrl-C and asks nothing of the run', async () => {
    const { host, shell } = setUp({ rows: working });
    const ended = runCli(['watch', RUN], shell);
    await until(() => shell.stderr.text.includes('first: working'));
    shell.interrupt();
    expect(await ended).toBe(130);
    expect(host.requests).toEqual([]);
  });
});

const event = (sequence: number, kind: string, body: Record<string, unknown>): StoredEvent => ({
  sequence,
  eventId: String(sequence),
  timestamp: '2026-01-02T03:04:05.000001',
  kind,
  body,
});

const EVENTS = [
  event(1, 'SystemPromptEvent', { system_prompt: { text: 'long' } }),
  event(2, 'MessageEvent', { source: 'user', llm_message: { content: [{ type: 'text', text: 'Do\nit.' }] } }),
  event(3, 'ActionEvent', { tool_name: 'terminal', action: { kind: 'TerminalAction', command: 'ls -l' } }),
  event(4, 'ActionEvent', { tool_name: 'file_editor', action: { command: 'view', path: '/workspace/a' } }),
  event(5, 'ObservationEvent', {
    tool_name: 'terminal',
    observation: { content: [{ type: 'text', text: `\u001b[31mred\u001b[0m ${'x'.repeat(400)}` }] },
  }),
  event(6, 'ConversationStateUpdateEvent', { key: 'execution_status', value: 'finished' }),
  event(7, 'ConversationStateUpdateEvent', { key: 'stats', value: {} }),
  event(8, 'AgentErrorEvent', { error: 'no such tool' }),
  event(9, 'SomethingNew', {}),
  event(10, 'ActionEvent', { action: null, tool_call: { arguments: '{"broken' } }),
];

describe('parley logs', () => {
  const lifecycle = [
    {
      about: { machine: 'conversation', id: 'x' },
      conversationId: null,
      code: 'refused',
      detail: 'too late',
      at: START,
    },
  ] as const;

  it('prints what a person reads of each event, harmless on a terminal', async () => {
    const rows = { row: runRow(FINISHED), items: [itemRow('first', SUCCEEDED)] };
    const { shell } = setUp({ rows, events: EVENTS, lifecycle });
    expect(await runCli(['logs', RUN], shell)).toBe(0);
    expect(shell.stdout.text).not.toContain('\u001b');
    expectGolden('logs.out', shell.stdout.text);
  });

  it('prints whole events with --json, one conversation, or only failed ones', async () => {
    const { shell } = setUp({ rows: working, events: EVENTS });
    await runCli(['logs', RUN, 'first', '--json'], shell);
    expect(recordsOf(shell)[1]).toMatchObject({ type: 'event', key: 'first', sequence: 1 });
    expect(recordsOf(shell)).toHaveLength(1 + EVENTS.length);
    expect(await runCli(['logs', RUN, 'third'], shell)).toBe(2);
    const none = setUp({ rows: done, events: EVENTS });
    expect(await runCli(['logs', RUN, '--failed'], none.shell)).toBe(0);
    expect(none.shell.stdout.text).toBe('');
  });

  it('follows until the run ends, each event once', async () => {
    const { host, shell } = setUp({ rows: working, events: EVENTS });
    const ended = runCli(['logs', RUN, 'first', '-f'], shell);
    await until(() => shell.stdout.text.includes('no such tool'));
    await shell.clock.advance(3_000);
    host.commit(done);
    await shell.clock.advance(1_000);
    expect(await ended).toBe(0);
    expect(shell.stdout.text.match(/terminal> ls -l/g)).toHaveLength(1);
  });
});

describe('collect, reconcile, report', () => {
  it('print what they did', async () => {
    const { host, shell } = setUp({ rows: done });
    expect(await runCli(['collect', RUN], shell)).toBe(0);
    expect(await runCli(['report', RUN], shell)).toBe(0);
    expect(await runCli(['reconcile', RUN, '--rows', 'rows.csv'], shell)).toBe(0);
    expect(host.calls).toContain(`reconcile ${path.join(shell.cwd, 'rows.csv')}`);
    expectGolden('after-run.out', shell.stdout.text);
  });

  it('end with 7 outside tolerance, and with 5 when somebody else owns the data directory', async () => {
    const outside = setUp({ rows: done, summary: { ...SUMMARY, withinTolerance: false } });
    expect(await runCli(['reconcile', RUN, '--json'], outside.shell)).toBe(7);
    expect(recordsOf(outside.shell)[1]).toMatchObject({ type: 'reconciliation', within_tolerance: false });
    const locked = setUp({ rows: done, locked: true });
    expect(await runToEnd(locked.shell, ['collect', RUN])).toBe(5);
    expect(locked.shell.stderr.text).toContain(`results: /results/${RUN}`);
  });
});

describe('reconcile', () => {
  it('hands columns, rates, aliases and expectations on, and ends with 7 when one is not kept', async () => {
    const { host, shell } = setUp({ rows: done, keepsExpectations: false });
    const flags = ['--rows', 'rows.csv', '--map', 'cost=Price', '--map', 'model=What', '--rate', 'EUR=1.08'];
    const units = ['--map', 'prompt_tokens=in *1e3', '--map', 'user=who*'];
    const more = ['--alias', 'a=b=coder', '--expect', 'unmatched<=1%', '--expect', 'late<=0'];
    expect(await runCli(['reconcile', RUN, ...flags, ...units, ...more], shell)).toBe(7);
    expect(host.reconciled).toMatchObject([
      {
        reading: {
          columns: { cost: 'Price', model: 'What', prompt_tokens: 'in', user: 'who*' },
          factors: { prompt_tokens: '1e3' },
          rates: { EUR: '1.08' },
        },
        modelAliases: { 'a=b': 'coder' },
        expectations: [
          { kind: 'share', measure: 'unmatched' },
          { kind: 'count', measure: 'late', max: 0 },
        ],
      },
    ]);
    expect(shell.stdout.text).toContain('expected unmatched<=1%: NOT KEPT');
  });

  it('says in records what was expected and whether it is kept', async () => {
    const { shell } = setUp({ rows: done });
    expect(await runCli(['reconcile', RUN, '--json', '--expect', 'unmatched<=5'], shell)).toBe(0);
    expect(recordsOf(shell)[1]).toMatchObject({ expectations: [{ bound: 'unmatched<=5', kept: true }] });
  });

  it.each([
    [['--expect', 'spent<=1'], 'Cannot read --expect "spent<=1"'],
    [['--rows', 'x.csv', '--map', 'price=Price'], 'Cannot map "price": there is no such field'],
    [
      ['--rows', 'x.csv', '--map', 'price=Price'],
      'FIELD=COLUMN with one of the fields completion_tokens, cost',
    ],
    [['--rows', 'x.csv', '--map', 'cost'], 'write --map FIELD=COLUMN, such as --map cost=amount'],
    [['--rows', 'x.csv', '--map', 'cost=c*0'], 'Cannot read the factor "0" of --map cost'],
    [['--rows', 'x.csv', '--map', 'cost=c*1.2.3'], 'Cannot read the factor "1.2.3" of --map cost'],
    [['--rows', 'x.csv', '--map', 'model=m*2'], 'Cannot multiply "model" by 2: it is no number'],
    [['--map', 'cost=Price'], 'Cannot use --map'],
    [['--rate', 'EUR=dear'], 'Cannot read --rate "EUR=dear"'],
    [['--alias', 'coder'], 'Cannot read --alias "coder": it is not NAME=VALUE'],
  ])('refuses %j', async (flags, words) => {
    const { shell } = setUp({ rows: done });
    expect(await runToEnd(shell, ['reconcile', RUN, ...flags])).toBe(2);
    expect(shell.stderr.text).toContain(words);
  });
});

describe('programs of their own', () => {
  it('are started with their arguments, and end with their exit code', async () => {
    const { shell } = setUp();
    expect(await runCli(['scripted-gateway', 'script.yaml', '--port', '4000'], shell)).toBe(7);
    expect(await runCli(['agent-server'], shell)).toBe(7);
    expect(shell.programs).toEqual([
      { file: 'scripted-gateway.js', args: ['script.yaml', '--port', '4000'] },
      { file: 'agent-server.cjs', args: [] },
    ]);
  });
});
