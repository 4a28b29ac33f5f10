/** A long export on a thread of its own: the same rows and the same refusals as on this one. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { GatewayRow } from '../../../core/money/spend.ts';
import { BATCHES_AHEAD_MAX, threadedRows } from '../../../clients/gateway/export-thread.ts';
import { packRows, unpackRows } from '../../../clients/gateway/row-batch.ts';
import { builtProgram } from '../../../host/sandboxes/places.ts';
import { rowsOfFile } from './rows-of-file.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'parley-thread-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const program = builtProgram('export-reader.js');

/** One line for each kind of row: with an id and without, of a price that nobody knows, a credit, and odd texts. */
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
      expect(list.length).toBeGreaterThan(0);
      expect(ports()).toBe(before + 1);
      break;
    }
    expect(ports()).toBe(before);
    expect(BATCHES_AHEAD_MAX).toBeGreaterThan(1);
  });

  it('fails when its program does', async () => {
    const broken = file('broken.mjs', ['process.exit(3)']);
    const rows = threadedRows(broken, { path: 'rows.jsonl', reading: {} })[Symbol.asyncIterator]();
    await expect(rows.next()).rejects.toThrow('its thread has ended');
  });
});

describe('packRows()', () => {
  it('keeps no rows as none', () => {
    expect(unpackRows(packRows([]))).toEqual([]);
  });
});
