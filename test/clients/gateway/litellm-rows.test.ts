/** LiteLLM's spend logs as JSON and CSV; the fixtures say where they come from. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseExport } from '../../../clients/gateway/export-rows.ts';
import { rowsOfFile } from './rows-of-file.ts';

const FOLDER = path.join(import.meta.dirname, 'fixtures');
const JSON_FILE = path.join(FOLDER, 'litellm-spend-logs.json');

describe("LiteLLM's spend logs", () => {
  it.each(['json', 'csv'])('are read as %s: ids, names, team, exact amounts', async (ending) => {
    const rows = await rowsOfFile(path.join(FOLDER, `litellm-spend-logs.${ending}`));
    expect(rows).toHaveLength(5);
    expect(rows[0]).toMatchObject({
      responseId: 'chatcmpl-v1',
      startedAt: Date.UTC(2026, 10, 22, 4, 38, 44, 589),
      model: 'acme/coder-1',
      team: 't-a',
      user: 'a',
      promptTokens: 10,
      completionTokens: 3,
      cost: 27_262,
      position: 1,
    });
    expect(rows[1]).toMatchObject({
      sessionId: 'abcdef0123456789abcdef0123456789',
      metadataSessionId: 'aaaabbbb',
      cost: 2_791_300,
    });
  });

  it('have a price that nobody knows, told from a free reply of the cache and a failed call', async () => {
    const rows = await rowsOfFile(JSON_FILE);
    expect(rows.map(({ isUnpriced, cost }) => [isUnpriced ?? false, cost > 0])).toEqual([
      [false, true],
      [false, true],
      [true, false],
      [false, false],
      [false, false],
    ]);
  });

  it('are read as a bare list, too', async () => {
    const { data } = JSON.parse(readFileSync(JSON_FILE, 'utf8')) as { readonly data: readonly object[] };
    expect(parseExport(JSON.stringify(data), 'json')).toEqual(await rowsOfFile(JSON_FILE));
    expect(() => parseExport('{"rows":[]}', 'json')).toThrow('it is no list of rows');
    expect(() => parseExport('[1]', 'json')).toThrow('row 1 of the export: it is not an object');
  });
});
