/** A long export on a thread of its own: the same rows and the same refusals as on this one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { nanoUsd } from '../../../core/money/money.ts';
import type { GatewayRow } from '../../../core/money/spend.ts';
import { BYTES_AHEAD_MAX, threadedRows } from '../../../clients/gateway/export-thread.ts';
import { bytesIn, packRows, unpackRows } from '../../../clients/gateway/row-batch.ts';
import { builtProgram } from '../../../host/sandboxes/places.ts';
import { rowsOfFile } from './rows-of-file.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'parley-thread-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const program = builtProgram('export-reader.js');

const ROW: GatewayRow = {
  responseId: 'a',
  startedAt: 1,
  endedAt: 2,
  model: 'coder',
  sessionId: null,
  tags: [],
  keyName: null,
  promptTokens: 1,
  completionTokens: 1,
  cost: nanoUsd(1),
  metadataSessionId: null,
  position: 1,
};

/** One line for each kind of row: with an id and without, of an unknown price, a credit, and odd texts. */
function lineOf(index: number): string {
  return JSON.stringify({
    request_id: index % 3 === 0 ? '' : `id-${index}`,
    startTime: new Date(1_800_000_000_000 + index).toISOString(),
    endTime: new Date(1_800_000_000_900 + index).toISOString(),
    model: index % 7 === 0 ? '<b>\u001b[31m模\u0000' : 'coder',
    ...(index % 5 === 0
      ? { spend: 0, total_tokens: 9 }
      : { cost_usd: index % 11 === 0 ? '-0.5' : '9007199.1' }),
    prompt_tokens: index,
    ...(index % 2 === 0 ? { team: `team-${index % 4}`, end_user: 'ada', request_tags: ['a', '"b"'] } : {}),
    ...(index % 13 === 0 ? { metadata: { session_id: '5E1F0B3A-0000-4000-8000-000000000001' } } : {}),
  });
}

function file(name: string, lines: readonly string[]): string {
  const at = path.join(dir, name);
  writeFileSync(at, lines.join('\n'));
  return at;
}

async function threaded(at: string): Promise<readonly GatewayRow[]> {
  const rows: GatewayRow[] = [];
  for await (const list of threadedRows(program, { path: at, reading: {} })) rows.push(...list);
  return rows;
}

describe('threadedRows()', () => {
  it('gives the rows that reading on this thread gives, more than are read ahead', async () => {
    const at = file(
      'rows.jsonl',
      Array.from({ length: 100_000 }, (_, index) => lineOf(index + 1)),
    );
    const rows = await threaded(at);
    expect(rows).toEqual(await rowsOfFile(at));
    expect(rows.length).toBe(100_000);
  });

  it('refuses as reading on this thread does, rows before the bad one given', async () => {
    const at = file('bad.jsonl', [lineOf(1), '{"request_id":"x"}']);
    const expected: unknown = await rowsOfFile(at).catch((error: unknown) => error);
    const seen: unknown = await threaded(at).catch((error: unknown) => error);
    expect(seen).toMatchObject({ code: 'export_invalid', details: { position: 2, field: 'started_at' } });
    expect((seen as Error).message).toBe((expected as Error).message);
    for (const none of [file('empty.jsonl', []), path.join(dir, 'missing.csv')]) {
      await expect(threaded(none)).rejects.toMatchObject({ code: 'export_invalid' });
    }
  });

  it('ends its thread when nobody wants more', async () => {
    const at = path.join(dir, 'rows.jsonl');
    // A thread holds a port of this process open for as long as it lives.
    const ports = (): number =>
      process.getActiveResourcesInfo().filter((name) => name === 'MessagePort').length;
    const before = ports();
    for await (const list of threadedRows(program, { path: at, reading: {} })) {
      expect([...list].length).toBeGreaterThan(0);
      expect(ports()).toBe(before + 1);
      break;
    }
    expect(ports()).toBe(before);
  });

  it('fails when its program does', async () => {
    const broken = file('broken.mjs', ['process.exit(3)']);
    const rows = threadedRows(broken, { path: 'rows.jsonl', reading: {} })[Symbol.asyncIterator]();
    await expect(rows.next()).rejects.toThrow('its thread has ended');
  });
});

describe('packRows()', () => {
  it('keeps no rows as none', () => {
    expect([...unpackRows(packRows([]))]).toEqual([]);
  });

  it('keeps ids of every kind and length, and fields that rows do not have', () => {
    const ids = ['chatcmpl-1', null, '', '模\ud83d\ude00', '\ud800', null, 'é'.repeat(70_000), 'x\u0000"'];
    const rows = ids.map((responseId, index): GatewayRow => ({
      responseId,
      startedAt: 1_800_000_000_000 + index,
      endedAt: 1_800_000_000_900,
      model: index < 3 ? 'coder' : '<b>',
      sessionId: null,
      tags: index === 4 ? ['"a"'] : [],
      keyName: null,
      promptTokens: index,
      completionTokens: 2 ** 53 - 1,
      cost: nanoUsd(-(2 ** 53 - 1)),
      metadataSessionId: null,
      ...(index === 5 ? { team: 'blue', isUnpriced: true } : {}),
      position: 41 + index,
    }));
    expect([...unpackRows(packRows(rows))]).toStrictEqual(rows);
  });

  it('says about how long it is, whose bound is a fraction of the memory', () => {
    const long = packRows([{ ...ROW, responseId: 'x'.repeat(1_000_000) }]);
    expect(bytesIn(long)).toBeGreaterThan(1_000_000);
    expect(bytesIn(packRows([ROW]))).toBeLessThan(200);
    expect(BYTES_AHEAD_MAX).toBeLessThan(100_000_000);
  });
});
