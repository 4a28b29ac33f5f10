/** Lines of a saved export that is longer than a piece: whatever stands where two pieces meet, each row is read once. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { rowsOfFile } from './rows-of-file.ts';

const dir = mkdtempSync(path.join(tmpdir(), 'parley-lines-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const STARTED = '2026-11-21T04:31:05Z';

function lineOf(id: string): string {
  return JSON.stringify({ request_id: id, started_at: STARTED, model: 'coder', cost_usd: 0.5 });
}

async function idsIn(content: string | Buffer): Promise<readonly (string | null)[]> {
  const file = path.join(dir, 'rows.jsonl');
  writeFileSync(file, content);
  return (await rowsOfFile(file)).map(({ responseId }) => responseId);
}

describe('streamExportFile() of lines', () => {
  const cases = { '\\n': '\n', '\\r\\n': '\r\n', '\\r': '\r', 'an empty line between': '\r\n\r\n' };
  for (const [name, end] of Object.entries(cases)) {
    it(`reads each once, parted by ${name}, with characters of one to four bytes`, async () => {
      // Lengths that divide no piece: every byte of a line meets an end of a piece somewhere.
      const ids = Array.from(
        { length: 6_000 },
        (_, index) => `${index}-${'aé模😀'.repeat(index % 7)}${'x'.repeat(index % 13)}`,
      );
      expect(await idsIn(`\uFEFF${ids.map(lineOf).join(end)}`)).toEqual(ids);
    });
  }

  it('reads a line that is longer than several pieces', async () => {
    const ids = ['a', 'é'.repeat(900_000), 'x'.repeat(700_000), 'b'];
    expect(await idsIn(`${ids.map(lineOf).join('\n')}\n`)).toEqual(ids);
  });

  it('reads bytes that are no character as one that says so', async () => {
    const [before, after] = lineOf('a?b').split('?');
    const content = Buffer.concat([Buffer.from(before ?? ''), Buffer.from([0xe2]), Buffer.from(after ?? '')]);
    expect(await idsIn(content)).toEqual(['a\uFFFDb']);
  });

  it('reads rows whose columns change from one to the next', async () => {
    const other = JSON.stringify({ cost: 1, id: 'b', model: 'coder', startTime: STARTED, extra: null });
    expect(await idsIn([lineOf('a'), other, lineOf('c'), other].join('\n'))).toEqual(['a', 'b', 'c', 'b']);
  });
});
