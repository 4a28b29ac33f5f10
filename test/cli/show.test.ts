/** `parley show`: the list of a run and the story of one conversation, with what others wrote made harmless. */
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import { FAILURE_CLASSES, OUTCOMES } from '../../core/status.ts';
import { outcomeSentence } from '../../core/run/outcome-words.ts';
import type { StoredEvent } from '../../ports/record-store.ts';
import { createResultsDirectory } from '../../store/blobs/results-directory.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeHost, type FakeHostOptions } from './fake-host.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { expectGolden } from './golden-file.ts';
import { demoPlan, FINISHED, itemRow, RUN, runRow, START, SUCCEEDED } from './rows.ts';

const EVIL = '\u001B[31mred\u001B[0m\u0007 \u202Etxet <b>&amp;</b> $(id) `id`';

const FAILED: Partial<RunItemRow> = {
  phase: 'ended',
  outcome: 'check_failed',
  executionStatus: 'FINISHED',
  detail: `verify: exit code 1\n${EVIL}`,
  endedAt: START + 62_000,
};

function event(sequence: number, kind: string, body: StoredEvent['body']): StoredEvent {
  return { sequence, eventId: `e${sequence}`, kind, timestamp: '2026-01-02T03:04:05Z', body };
}

const said = (sequence: number, text: string): StoredEvent =>
  event(sequence, 'MessageEvent', { source: 'agent', llm_message: { content: [{ type: 'text', text }] } });

const EVENTS = [
  said(1, 'I begin.'),
  event(2, 'MessageEvent', { source: 'user', llm_message: { content: [{ type: 'text', text: 'Go on.' }] } }),
  event(3, 'ActionEvent', {
    action: { kind: 'FinishAction', message: `All is done.\n${EVIL}\nSecond line.` },
  }),
];

function setUp(options: FakeHostOptions = {}) {
  const cwd = tempDir();
  const results = path.join(cwd, 'results', RUN);
  const folder = path.join(results, 'second');
  mkdirSync(path.join(folder, 'files'), { recursive: true });
  writeFileSync(path.join(folder, 'changes.patch'), `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+${EVIL}\n`);
  writeFileSync(path.join(folder, 'verify.log'), `exit code 1\n${EVIL}\nexpected 1, found 2\n`);
  writeFileSync(path.join(folder, 'files', 'notes.md'), 'hello');
  symlinkSync('/etc/passwd', path.join(folder, 'files', 'link'));
  writeFileSync(path.join(cwd, 'parley.yaml'), 'store: { path: . }\n');
  writeFileSync(path.join(cwd, 'parley.db'), '');
  const items = [itemRow('first', SUCCEEDED), itemRow('second', FAILED)];
  const host = fakeHost({
    rows: { row: runRow({ ...FINISHED, ended: { succeeded: 1, check_failed: 1 } }), items },
    plan: demoPlan(),
    events: EVENTS,
    ...options,
  });
  const openReader: typeof host.openReader = async (config) => {
    const reader = await host.openReader(config);
    return reader && { ...reader, results: createResultsDirectory(path.join(cwd, 'results')) };
  };
  const shell = fakeShell({ cwd, host: { ...host, openReader } });
  const show = (...args: readonly string[]): Promise<number> => runCli(['show', ...args], shell);
  const text = (): string =>
    shell.stdout.text.replaceAll(results, '<folder>/results').replaceAll(cwd, '<folder>');
  return { cwd, folder, shell, show, text };
}

describe('parley show RUN', () => {
  it('lists the conversations with their outcomes, and says how one is shown', async () => {
    const { shell, show, text } = setUp();
    expect(await show('last')).toBe(0);
    expectGolden('show-list.out', text());
    expect(shell.stderr.text).toBe(`show one of them with: parley show ${RUN} KEY\n`);
  });

  it('lists only what went wrong with --failed, and in records what status has', async () => {
    const { shell, show } = setUp();
    expect(await show(RUN, '--failed', '--json')).toBe(0);
    expect(recordsOf(shell).map(({ type, key }) => [type, key])).toEqual([
      ['hello', undefined],
      ['run', undefined],
      ['item', 'second'],
    ]);
  });

  it('lists 10,000 conversations, and no conversation at all', async () => {
    const items = Array.from({ length: 10_000 }, (_, index) => itemRow(`item-${index}`, SUCCEEDED));
    const many = setUp({ rows: { row: runRow(FINISHED), items } });
    expect(await many.show('last')).toBe(0);
    expect(many.shell.stdout.text.split('\n')).toHaveLength(10_002);
    const none = setUp({ rows: { row: runRow({ ...FINISHED, total: 0 }), items: [] } });
    expect(await none.show('last')).toBe(0);
    expect(none.shell.stdout.text).toBe('');
    expect(none.shell.stderr.text).toBe('the run has no conversations\n');
  });
});

describe('parley show RUN KEY', () => {
  it('tells the whole story of a conversation whose check failed, and lets nothing act on the terminal', async () => {
    const { show, text } = setUp();
    expect(await show('last', 'second')).toBe(0);
    expectGolden('show.out', text());
    expect(text().replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u202A-\u202E]/u);
    expect(text()).not.toContain('link');
  });

  it('has all of it in one record', async () => {
    const { folder, shell, show } = setUp();
    expect(await show('last', 'second', '--json')).toBe(0);
    expect(recordsOf(shell).slice(1)).toMatchObject([
      {
        ...{ type: 'story', run_id: RUN, key: 'second', outcome: 'check_failed', cost_nano_usd: 617_284 },
        says: 'The agent finished, but the check of the job failed',
        ...{ prompt: 'Do the second thing.', model: 'coder' },
        answer: `All is done.\n${EVIL}\nSecond line.`,
        check: [EVIL, 'expected 1, found 2'],
        diff: { file: path.join(folder, 'changes.patch'), whole: true },
        files: [{ name: 'changes.patch' }, { name: 'verify.log' }, { name: 'files/notes.md', bytes: 5 }],
        next: [`parley logs ${RUN} second`, 'parley run FILE --only "second"'],
      },
    ]);
  });

  it('cuts what is long and says so, and shows all of it with --full', async () => {
    const { folder, shell, show } = setUp();
    const lines = Array.from({ length: 500 }, (_, index) => `+line ${index}`);
    writeFileSync(path.join(folder, 'changes.patch'), `${lines.join('\n')}\n`);
    expect(await show('last', 'second')).toBe(0);
    expect(shell.stdout.text).toContain('and 420 more lines; --full shows all');
    expect(shell.stdout.text).not.toContain('line 499');
    expect(await show('last', 'second', '--full')).toBe(0);
    expect(shell.stdout.text).toContain('line 499');
  });

  it('reads a patch of a gigabyte no further than it shows, and says where the whole of it is', async () => {
    const { folder, shell, show } = setUp();
    writeFileSync(path.join(folder, 'changes.patch'), '+x\n'.repeat(700_000));
    expect(await show('last', 'second', '--json')).toBe(0);
    expect(recordsOf(shell)[1]).toMatchObject({ diff: { bytes: 2_100_000, whole: false } });
    expect(await show('last', 'second', '--full')).toBe(0);
    expect(shell.stdout.text).toContain(
      `and more; the whole of it is in ${path.join(folder, 'changes.patch')}`,
    );
  });

  it('shows no patch that was withheld for a secret, though one of an earlier attempt lies there', async () => {
    const { folder, shell, show } = setUp();
    const finding = {
      code: 'secret',
      result: 'changes.patch',
      says: 'withheld: it holds the value of a secret',
    };
    writeFileSync(path.join(folder, 'findings.json'), JSON.stringify({ format: 1, findings: [finding] }));
    expect(await show('last', 'second')).toBe(0);
    expect(shell.stdout.text).toContain('changes.patch: withheld');
    expect(shell.stdout.text).not.toContain('@@ -1 +1 @@');
  });

  it('reads transcripts of several pages for the last word', async () => {
    const many = Array.from({ length: 2_500 }, (_, index) => said(index + 1, `word ${index + 1}`));
    const { shell, show } = setUp({ events: many });
    expect(await show('last', 'second')).toBe(0);
    expect(shell.stdout.text).toContain('answer:\n  | word 2500\n');
  });

  it('tells of one that has not begun, and of one that is at work', async () => {
    const waiting = itemRow('first', {
      phase: 'waiting',
      attempt: 0,
      conversationId: null,
      admittedAt: null,
    });
    const { shell, show } = setUp({
      rows: { row: runRow(), items: [waiting, itemRow('second')] },
      events: [],
    });
    expect(await show('last', 'first')).toBe(0);
    expect(shell.stdout.text).toContain('It has not begun yet.');
    expect(await show('last', 'second')).toBe(0);
    expect(shell.stdout.text).toContain('It has not ended yet: working.');
    expect(shell.stdout.text).toContain(`next: parley logs ${RUN} second -f`);
  });

  it.each([
    [['last', 'secnod'], 'did you mean "second"?'],
    [['last', 'sec'], 'did you mean "second"?'],
    [['last', 'zzz'], 'list them with "parley show last"'],
    [['20260102', 'first'], `did you mean "${RUN}"?`],
    [['nobody', 'first'], 'list the runs with "parley status"'],
  ])('refuses %j, with what may be meant', async (args, words) => {
    const { shell, show } = setUp();
    expect(await show(...args)).toBe(2);
    expect(shell.stderr.text).toContain(words);
    expect(shell.stdout.text).toBe('');
  });
});

it('outcomeSentence() has a sentence of its own for every outcome and every class of failure', () => {
  const ended = (change: Partial<RunItemRow>): string =>
    outcomeSentence(itemRow('x', { phase: 'ended', ...change }));
  const outcomes = OUTCOMES.map((outcome) => ended({ outcome, failureClass: null }));
  expect(new Set(outcomes).size).toBe(OUTCOMES.length);
  const failures = FAILURE_CLASSES.map((failureClass) => ended({ outcome: 'failed', failureClass }));
  expect(new Set(failures).size).toBe(FAILURE_CLASSES.length);
});
