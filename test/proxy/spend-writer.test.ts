/** Rows on their way to disk: one write for each turn of the event loop, and no call before its row is there (D26). */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SpendRow } from '../../core/money/spend.ts';
import { KEPT_FILES_MAX } from '../../proxy/limits.ts';
import { SpendSpool } from '../../proxy/spend/spend-spool.ts';
import type { SpendLoss } from '../../core/money/spend-loss.ts';
import { SpendWriter } from '../../proxy/spend/spend-writer.ts';
import { spendRow } from '../contract/store-rows.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { MemorySpendLog } from './memory-spend-log.ts';
import { SILENT_LOG } from './proxy-under-test.ts';

function setUp(isCommittedFirst = false) {
  const spoolDir = path.join(tempDir(), 'spool');
  const spend = new MemorySpendLog();
  const own = { clock: { now: () => 5 }, log: SILENT_LOG, isCommittedFirst: () => isCommittedFirst };
  const writer = new SpendWriter({ spend, spoolDir, ...own });
  const spooled = (): readonly SpendRow[] =>
    readdirSync(spoolDir)
      .flatMap((name) => readFileSync(path.join(spoolDir, name), 'utf8').split('\n'))
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as SpendRow);
  const open = (callId: string): Promise<Error | null> =>
    new Promise((kept) => writer.open(spendRow(callId, { state: 'open' }), kept));
  return { spoolDir, spend, writer, spooled, open };
}

describe('SpendWriter', () => {
  it('lets the calls of one turn go together, once the rows of all of them are on disk', async () => {
    const { writer, spooled } = setUp();
    const seen: number[] = [];
    const calls = ['a', 'b', 'c'].map(
      (callId) =>
        new Promise<void>((resolve) => {
          writer.open(spendRow(callId, { state: 'open' }), (refused) => {
            expect(refused).toBeNull();
            seen.push(spooled().length);
            resolve();
          });
        }),
    );
    expect(spooled()).toEqual([]);
    expect(seen).toEqual([]);
    await Promise.all(calls);
    expect(seen).toEqual([3, 3, 3]);
    await writer.stop();
  });

  it('lets a call go only once its row is in the store, where that is wanted', async () => {
    const { spend, writer, open } = setUp(true);
    const seen = await Promise.all(
      [open('a'), open('b')].map((kept) => kept.then(() => [...spend.rows.keys()])),
    );
    expect(seen).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    const { write } = spend;
    spend.write = () => Promise.reject(new Error('Cannot reach the store: it is away'));
    expect((await open('c'))?.message).toContain('it is away');
    spend.write = write;
    await writer.stop();
    const states = [...spend.rows.values()].map((row) => [row.callId, row.state]);
    expect(states).toEqual([
      ['a', 'interrupted'],
      ['b', 'interrupted'],
      ['c', 'aborted'],
    ]);
  });

  it('refuses every call of a turn that the disk refused, and sends its closed rows to the store all the same', async () => {
    const { spoolDir, spend, writer, open, spooled } = setUp();
    rmSync(spoolDir, { recursive: true });
    writer.close(spendRow('ended'));
    const refused = await Promise.all([open('a'), open('b')]);
    expect(refused.map((error) => error instanceof Error)).toEqual([true, true]);
    mkdirSync(spoolDir);
    expect(await open('c')).toBeNull();
    expect(spooled().map((row) => row.callId)).toEqual(['c']);
    await writer.stop();
    const states = [...spend.rows.values()].map((row) => [row.callId, row.state]);
    expect(states.sort()).toEqual([
      ['c', 'open'],
      ['ended', 'succeeded'],
    ]);
  });

  it('keeps the price of a call that ended while nothing could be written, also over the end of the process', async () => {
    const { spoolDir, spend, writer, open } = setUp();
    await writer.flush();
    expect(await open('billed')).toBeNull();
    spend.isAway = true;
    await writer.flush();
    // From here on the disk takes no new file, and the store nothing.
    for (let number = 2; number < 9; number += 1)
      mkdirSync(path.join(spoolDir, `spend-${String(number).padStart(12, '0')}.jsonl`));
    writer.close(spendRow('billed'));
    expect(await open('new')).toBeInstanceOf(Error);
    for (const name of readdirSync(spoolDir).slice(1)) rmSync(path.join(spoolDir, name), { recursive: true });
    const next = new MemorySpendLog();
    const after = new SpendWriter({ spend: next, spoolDir, clock: { now: () => 9 }, log: SILENT_LOG });
    await after.stop();
    expect([...next.rows.values()]).toEqual([spendRow('billed')]);
    const third = new SpendWriter({
      spend: new MemorySpendLog(),
      spoolDir,
      clock: { now: () => 9 },
      log: SILENT_LOG,
    });
    await third.stop();
    expect(readdirSync(spoolDir)).toEqual([]);
    spend.isAway = false;
    await writer.stop();
  });

  it('brings each call to the store once, in its last state, and leaves nothing behind', async () => {
    const { spend, writer, open, spooled } = setUp();
    const count = 300;
    const ids = Array.from({ length: count }, (_, i) => `call-${i}`);
    await Promise.all(ids.map((id) => open(id)));
    for (const id of ids) writer.close(spendRow(id));
    await writer.flush();
    expect([...spend.rows.values()].map((row) => row.state)).toEqual(ids.map(() => 'succeeded'));
    // In pieces, so that no write holds up the calls for long.
    expect(spend.writes).toBeGreaterThan(1);
    expect(spooled()).toEqual([]);
    await writer.stop();
  });
});

describe('a store that has lost rows', () => {
  const started = (callId: string, startedAt: number): SpendRow => spendRow(callId, { startedAt });

  /** A process that sent these rows, and a later one over the same spool. */
  async function twoLives(rows: readonly SpendRow[], lose: (spend: MemorySpendLog) => void) {
    const { spoolDir, spend, writer } = setUp();
    for (const row of rows) {
      writer.close(row);
      await writer.flush();
    }
    await writer.stop();
    lose(spend);
    const told: SpendLoss[] = [];
    const onLost = (lost: SpendLoss): void => void told.push(lost);
    const later = new SpendWriter({ spend, spoolDir, clock: { now: () => 5 }, log: SILENT_LOG, onLost });
    return { spend, later, told };
  }

  it('gets them again from what was kept of the spool, and whoever started it is told', async () => {
    const rows = ['a', 'b', 'c', 'd'].map((id, at) => started(id, 1_000 + at));
    const { spend, later, told } = await twoLives(rows, ({ rows: kept }) =>
      ['c', 'd'].map((id) => kept.delete(id)),
    );
    await later.flush();
    expect([...spend.rows.keys()].sort()).toEqual(['a', 'b', 'c', 'd']);
    const costNanoUsd = rows.slice(2).reduce((sum, { cost }) => sum + (cost ?? 0), 0);
    expect(told).toEqual([{ calls: 2, costNanoUsd, from: 1_002, to: 1_003, mayBeMore: false, seenAt: 5 }]);
    expect(spend.lost).toEqual(told);
    await later.stop();
  });

  it('is told of nothing where all are there, and the next file of the spool takes no name of an earlier one', async () => {
    const { later, told, spend } = await twoLives([started('a', 1), started('b', 2)], () => undefined);
    later.close(started('c', 3));
    await later.flush();
    expect(told).toEqual([]);
    expect([...spend.rows.keys()]).toEqual(['a', 'b', 'c']);
    await later.stop();
  });

  it('is brought back nothing that went over into sums', async () => {
    const { spoolDir, spend, writer } = setUp();
    for (const row of [started('old', 10), started('new', 30)]) {
      writer.close(row);
      await writer.flush();
    }
    writer.forgetBefore(20);
    spend.rows.clear();
    await writer.stop();
    const later = new SpendWriter({ spend, spoolDir, clock: { now: () => 5 }, log: SILENT_LOG });
    await later.flush();
    expect([...spend.rows.keys()]).toEqual(['new']);
    await later.stop();
  });

  it('is asked again later when it is away at the start', async () => {
    const { spend, later, told } = await twoLives([started('a', 1)], ({ rows: kept }) => kept.clear());
    spend.isAway = true;
    await later.flush();
    spend.isAway = false;
    await later.flush();
    expect([...spend.rows.keys()]).toEqual(['a']);
    expect(told).toHaveLength(1);
    await later.stop();
  });

  it('keeps no more than is bounded', async () => {
    const { spoolDir, writer } = setUp();
    for (let at = 0; at < KEPT_FILES_MAX + 20; at += 1) {
      writer.close(started(`call-${at}`, at));
      await writer.flush();
    }
    await writer.stop();
    expect(readdirSync(`${spoolDir}.kept`)).toHaveLength(KEPT_FILES_MAX);
  });

  it('takes what a full disk left aside behind it, and writes over nothing that it keeps', () => {
    const spoolDir = path.join(tempDir(), 'spool');
    const earlier = new SpendSpool(spoolDir);
    const sent = [started('sent', 1)];
    earlier.append(sent);
    earlier.seal();
    earlier.dropOldest(sent);
    expect(earlier.keepAside([started('aside', 2)])).toBe(true);
    const kept = readdirSync(`${spoolDir}.kept`);
    expect(kept).toHaveLength(1);
    const later = new SpendSpool(spoolDir);
    expect(kept).not.toContain(path.basename(later.oldest()?.file ?? ''));
  });
});
