/** Rows on their way to disk: one write for each turn of the event loop, and no call before its row is there (D26). */
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { SpendRow } from '../../core/spend.ts';
import { SpendWriter } from '../../proxy/spend-writer.ts';
import { spendRow } from '../contract/store-rows.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { MemorySpendLog } from './memory-spend-log.ts';
import { SILENT_LOG } from './proxy-under-test.ts';

function setUp() {
  const spoolDir = path.join(tempDir(), 'spool');
  const spend = new MemorySpendLog();
  const writer = new SpendWriter({ spend, spoolDir, clock: { now: () => 5 }, log: SILENT_LOG });
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
