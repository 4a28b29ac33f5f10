/** Exports over real HTTP and from real files. */
import { writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createGatewayExport } from '../../../clients/gateway/gateway-export.ts';
import { tempDir } from '../../helpers/temp-dir.ts';
import { rowsOfFile } from './rows-of-file.ts';

const INTERVAL = { from: Date.UTC(2026, 10, 21), to: Date.UTC(2026, 10, 22) };
const ROW = '{"request_id":"r1","time_start":"2026-11-21T10:00:00.000Z","model":"m","cost_usd":"0.25"}\n';

async function gateway(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  onTestFinished(() => new Promise<void>((closed) => server.close(() => closed())));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/spend/export?team=blue`;
}

describe('createGatewayExport()', () => {
  it('asks for the interval with the key, and keeps parameters of the address', async () => {
    const seen: { url: string; key: string | undefined }[] = [];
    const url = await gateway((request, response) => {
      seen.push({ url: request.url ?? '', key: request.headers.authorization });
      response.end(ROW);
    });
    const rows = await createGatewayExport({ url, apiKey: 'k', format: 'jsonl' }).rows(INTERVAL);
    expect(rows).toMatchObject([{ responseId: 'r1', cost: 250_000_000, position: 1 }]);
    const query = new URL(seen[0]?.url ?? '', url).searchParams;
    expect(Object.fromEntries(query)).toEqual({
      team: 'blue',
      format: 'jsonl',
      from: '2026-11-21T00:00:00.000Z',
      to: '2026-11-22T00:00:00.000Z',
    });
    expect(seen[0]?.key).toBe('Bearer k');
  });

  it('drops rows outside the interval that a gateway sends all the same', async () => {
    const url = await gateway((_request, response) =>
      response.end(ROW + ROW.replace('11-21', '11-22') + ROW.replace('11-21', '11-20')),
    );
    expect(await createGatewayExport({ url, apiKey: '', format: 'jsonl' }).rows(INTERVAL)).toHaveLength(1);
  });

  it('reads an export that is coded although nobody asked, and none that breaks off', async () => {
    const coded = gzipSync(ROW.repeat(50));
    const answers = [coded, coded.subarray(0, -9)];
    const url = await gateway((request, response) => {
      expect(request.headers['accept-encoding']).toBe('identity');
      response.writeContinue();
      response.setHeader('x-policy', 'p'.repeat(20_000));
      response.setHeader('content-encoding', 'gzip').end(answers.shift());
    });
    const exported = createGatewayExport({ url, apiKey: '', format: 'jsonl' });
    expect(await exported.rows(INTERVAL)).toHaveLength(50);
    await expect(exported.rows(INTERVAL)).rejects.toMatchObject({ code: 'export_invalid' });
  });

  it('reports a refusal and a dead address as unavailable, never with the key', async () => {
    const url = await gateway((_request, response) => response.writeHead(503).end('busy'));
    const refused = await createGatewayExport({ url, apiKey: 'secret-key', format: 'csv' })
      .rows(INTERVAL)
      .catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'export_unavailable',
      message: 'Cannot fetch the export of the gateway: status 503: busy',
    });
    const nowhere = createGatewayExport({ url: 'http://127.0.0.1:1/x', apiKey: 'secret-key', format: 'csv' });
    const dead = await nowhere.rows(INTERVAL).catch((error: unknown) => error as Error);
    expect(dead).toMatchObject({ code: 'export_unavailable' });
    expect(String(dead)).not.toContain('secret-key');
  });

  it('says what to do where no export is configured', async () => {
    await expect(createGatewayExport(null).rows(INTERVAL)).rejects.toMatchObject({
      code: 'export_unavailable',
      message: expect.stringContaining('`gateway.export` is not configured') as string,
    });
  });

  it('reads a saved file by its ending and without an interval', async () => {
    const folder = tempDir();
    writeFileSync(path.join(folder, 'spend.jsonl'), ROW);
    writeFileSync(path.join(folder, 'spend.CSV'), '\uFEFFid,time,model,cost\n"r,1",2020-01-01,m,1e-9\n');
    expect(await rowsOfFile(path.join(folder, 'spend.jsonl'))).toMatchObject([{ responseId: 'r1' }]);
    expect(await rowsOfFile(path.join(folder, 'spend.CSV'))).toMatchObject([{ responseId: 'r,1', cost: 1 }]);
    const refused = (name: string) => rowsOfFile(path.join(folder, name)).catch((error: unknown) => error);
    for (const name of ['missing.csv', 'missing.json', 'missing.jsonl']) {
      expect(await refused(name)).toMatchObject({
        code: 'export_invalid',
        message: expect.stringContaining('there is no such file') as string,
      });
    }
    expect(await refused('spend.xlsx')).toMatchObject({ code: 'export_invalid' });
  });

  it.each([
    ['empty.jsonl', '', 'it has no row, so it is empty or cut off'],
    ['blank.ndjson', '\uFEFF\n \n', 'it has no row, so it is empty or cut off'],
    ['empty.csv', '', 'it has no row, so it is empty or cut off'],
    ['header.csv', 'id,time,model,cost\n', 'it has no row, so it is empty or cut off'],
    ['short.csv', 'id,time,model,cost\nr1,2020-01-01,m,1\nr2,2020-', 'Cannot read the export'],
    ['short.jsonl', `${ROW.trim()}\n${ROW.trim().slice(0, -9)}`, 'row 2 of the export: it is not JSON'],
    ['empty.json', '', 'it is not JSON'],
    ['page.json', `{"data":[${ROW}],"total":2}`, 'it is cut off, it has 1 rows of 2'],
    ['paged.json', `{"data":[${ROW}],"pagination":{"total_count":"9"}}`, 'it is cut off, it has 1 rows of 9'],
    ['more.json', `{"data":[${ROW}],"has_more":true}`, '"has_more" says that there are more'],
    ['next.json', `{"data":[${ROW}],"next_cursor":"abc"}`, '"next_cursor" says that there are more'],
  ])('sees that a file is cut off: %s', async (name, content, words) => {
    const file = path.join(tempDir(), name);
    writeFileSync(file, content);
    await expect(rowsOfFile(file)).rejects.toMatchObject({
      code: 'export_invalid',
      message: expect.stringContaining(words) as string,
    });
  });

  it.each([
    ['none.json', '[]', 0],
    ['none-paged.json', '{"data":[],"total":0,"has_more":false}', 0],
    ['whole.json', `{"data":[${ROW}],"total":1,"next":null}`, 1],
  ])('takes a file that says it is whole: %s', async (name, content, count) => {
    const file = path.join(tempDir(), name);
    writeFileSync(file, content);
    expect(await rowsOfFile(file)).toHaveLength(count);
  });
});
