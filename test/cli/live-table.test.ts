/** Frames of the live table at several sizes of a terminal, and the small words it is made of. */
import { describe, expect, it } from 'vitest';
import { drawTable, type Frame } from '../../cli/view/live-table.ts';
import { duration, usd } from '../../core/text/amounts.ts';
import { itemState, runState } from '../../core/run/run-words.ts';
import { cut, printable, table } from '../../host/terminal-text.ts';
import { plainView } from '../../cli/view/open-run-view.ts';
import { fakeShell } from './fake-shell.ts';
import { expectGolden } from './golden-file.ts';
import { itemRow, runRow, START, SUCCEEDED } from './rows.ts';

const items = [
  itemRow('docs/intro', SUCCEEDED),
  itemRow('docs/a-rather-long-key-that-takes-much-room', { executionStatus: 'WAITING_FOR_CONFIRMATION' }),
  itemRow('api', { phase: 'ended', outcome: 'failed', failureClass: 'infra', endedAt: START + 4_000 }),
  itemRow('web', { phase: 'waiting', attempt: 0, sandboxId: null, admittedAt: null, costNanoUsd: null }),
];

const frame = (change: Partial<Frame> = {}): Frame => ({
  row: runRow({ total: 4, ended: { succeeded: 1, failed: 1 } }),
  items,
  activity: new Map([['aaaaaaaabbbbccccddddeeeeeeeeeeee', START + 60_000]]),
  notice: null,
  now: START + 95_000,
  columns: 120,
  rows: 24,
  color: false,
  ...change,
});

describe('drawTable()', () => {
  it('fits every width and height', () => {
    const sizes = [
      [120, 24],
      [80, 24],
      [60, 24],
      [40, 24],
      [20, 7],
    ] as const;
    const frames = sizes.map(([columns, rows]) => {
      const text = drawTable(frame({ columns, rows, notice: 'draining: nothing new starts' }));
      const lines = text.split('\n');
      expect(Math.max(...lines.map((line) => [...line].length))).toBeLessThanOrEqual(columns);
      expect(lines.length).toBeLessThan(rows);
      return `${columns} x ${rows}\n${text}\n`;
    });
    expectGolden('live-table.out', frames.join('\n'));
  });

  it('shows trouble in a line of its own, and at whom it holds up', () => {
    const trouble = { what: 'model', cause: 'it is away', since: START, tries: 3, nextAt: START + 6_000 };
    const row = { ...frame().row, trouble };
    const held = items.map((item, index) => (index === 1 ? { ...item, trouble } : item));
    const lines = drawTable(frame({ row, items: held, rows: 8 })).split('\n');
    expect(lines.at(-1)).toBe('trouble with model since 03:04:05, try 3, next 03:04:11: it is away');
    expect(lines[2]).toMatch(/docs\/a-rather.* working \(trouble\) /);
    expect(lines.length).toBeLessThan(8);
  });

  it('shows what works first, then what failed, and says what is not shown', () => {
    const lines = drawTable(frame({ rows: 7 })).split('\n');
    expect(lines[2]).toContain('docs/a-rather');
    expect(lines[3]).toContain('api');
    expect(lines[4]).toBe('and 2 more');
  });

  it('fits ten thousand conversations into 24 lines, and says which limit is in force', () => {
    const many = Array.from({ length: 10_000 }, (_, index) =>
      itemRow(`tidy/${index}`, index < 60 ? {} : { phase: 'waiting', attempt: 0, sandboxId: null }),
    );
    const row = runRow({ total: 10_000, waiting: 9_940, inFlight: 60, reason: 'per repo' });
    const lines = drawTable(frame({ row, items: many, columns: 80 })).split('\n');
    expect(lines.length).toBeLessThan(24);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines[0]).toContain('limit per repo');
    expect(lines.at(-1)).toBe('and 9981 more');
  });

  it('says which sandboxes a run that cleans up waits for, as the lines do', async () => {
    const gone = items.map((item) => ({ ...item, sandboxStatus: 'MISSING' as const }));
    const left = gone.map((item, at) => (at === 2 ? { ...item, sandboxStatus: 'ERROR' as const } : item));
    const row = runRow({ total: 4, phase: 'cleaning', inFlight: 0, waiting: 0 });
    const words = '1 sandbox to archive and remove (api)';
    expect(drawTable(frame({ row, items: left }))).toContain(words);
    expect(drawTable(frame({ row, items: gone }))).not.toContain('to archive');
    const shell = fakeShell({ cwd: '/' });
    const view = plainView(shell);
    view.changed(row, left);
    await shell.clock.advance(30_000);
    view.close();
    expect(shell.stderr.text).toContain(`cleaning: done 0/4`);
    expect(shell.stderr.text).toContain(words);
  });

  it('uses colour only where it is wanted', () => {
    expect(drawTable(frame())).not.toContain('\u001b');
    expect(drawTable(frame({ color: true }))).toContain('\u001b[31mapi');
  });

  it('keeps what agents and files say from acting on the terminal', () => {
    const text = drawTable(frame({ notice: 'a\u001b[2Jb\nc', items: [itemRow('k\u202ey')] }));
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u202e');
  });
});

describe('words', () => {
  it('say what an item and a run do', () => {
    expect(items.map(itemState)).toEqual([
      'succeeded',
      'working (waiting_for_confirmation)',
      'failed (infra)',
      'waiting',
    ]);
    expect(itemState(itemRow('a', { phase: 'waiting', attempt: 2 }))).toBe('waiting (attempt 2 ended)');
    expect(runState(runRow({ mode: 'paused', reason: 'budget' }))).toBe('paused: budget');
    expect(runState(runRow({ phase: 'settling' }))).toBe('settling');
  });

  it.each([
    [null, '-'],
    [0, '0s'],
    [59_999, '59s'],
    [185_000, '3m05s'],
    [3_720_000, '1h02m'],
    [183_600_000, '2d03h'],
  ])('%s ms are %s', (ms, text) => {
    expect(duration(ms)).toBe(text);
  });

  it('print amounts as totals are rounded, and nothing for what is unknown', () => {
    expect(usd(null)).toBe('-');
    expect(usd(1_234_500)).toBe('$0.001234');
    expect(usd(2_000_000_000)).toBe('$2.000000');
  });

  it('cut and align', () => {
    expect(cut('abcdef', 4)).toBe('abc~');
    expect(printable('a\tb\u0007\n\u001b[31mc\u001b[0m')).toBe('a  b\ufffd\nc');
    expect(
      table(
        [{ title: 'k' }, { title: 'n', side: 'right' }],
        [
          ['key', '1'],
          ['x', '20'],
        ],
      ),
    ).toEqual(['k     n', 'key   1', 'x    20']);
  });
});
