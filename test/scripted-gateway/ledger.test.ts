// The ledger on disk: whole rows in order, torn ends dropped, damage reported.

import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openLedger, type LedgerRow } from '../../scripted-gateway/ledger.ts';

function ledgerPath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'scripted-gateway-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, 'ledger.jsonl');
}

const rowOf = (id: number): LedgerRow => ({
  request_id: `chatcmpl-${id}`,
  time_start: '2026-01-02T03:04:05.006Z',
  time_end: '2026-01-02T03:04:05.007Z',
  model: 'vendor/small',
  api_key_name: 'team',
  tags: ['é', 'b'],
  session_id: null,
  metadata: { a: [1, null] },
  user: null,
  prompt_tokens: 1,
  completion_tokens: 2,
  cost_usd: '0.000001',
  status: 'success',
});

describe('openLedger()', () => {
  it('keeps rows that were added at once, each once, in one order everywhere', async () => {
    const path = ledgerPath();
    const ledger = await openLedger(path);
    await Promise.all(Array.from({ length: 200 }, (_, id) => ledger.append(rowOf(id))));
    await ledger.close();
    const again = await openLedger(path);
    expect(again.rows()).toEqual(ledger.rows());
    expect(again.rows().map((row) => row.request_id)).toEqual(
      Array.from({ length: 200 }, (_, id) => `chatcmpl-${id}`),
    );
    await again.close();
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('drops a torn last line wherever it was torn, and goes on after the whole ones', async () => {
    const path = ledgerPath();
    const line = Buffer.from(`${JSON.stringify(rowOf(2))}\n`);
    for (let length = 1; length < line.length; length += 1) {
      writeFileSync(path, `${JSON.stringify(rowOf(1))}\n`);
      appendFileSync(path, line.subarray(0, length));
      const ledger = await openLedger(path);
      await ledger.append(rowOf(3));
      await ledger.close();
      const whole = [rowOf(1), rowOf(3)].map((row) => `${JSON.stringify(row)}\n`).join('');
      expect(readFileSync(path, 'utf8')).toBe(whole);
    }
  });

  it('refuses a file with a line that is no row, and names the line', async () => {
    const path = ledgerPath();
    writeFileSync(path, `${JSON.stringify(rowOf(1))}\n{"request_id":1}\n`);
    await expect(openLedger(path)).rejects.toThrow(`Cannot read ledger "${path}": line 2 is not a row`);
  });

  it('refuses what is no regular file', async () => {
    await expect(openLedger(tmpdir())).rejects.toThrow('it is not a regular file');
  });

  it('tells who appends when the file cannot be written, and keeps no such row', async () => {
    const ledger = await openLedger(ledgerPath());
    await ledger.close();
    for (const id of [1, 2]) {
      await expect(ledger.append(rowOf(id))).rejects.toThrow(
        'Cannot bill call: the ledger file cannot be written',
      );
    }
    expect(ledger.rows()).toEqual([]);
  });
});
