/**
 * What an agent can find out in its sandbox about the gateway: nothing. A real run, in which the model requests the
 * environment of every process it can see and every address on which a process listens.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ReconciliationRecord } from '../../../core/reconcile/reconciliation-record.ts';
import { openGateway, type BatchGateway } from '../../e2e/batch-gateway.ts';
import { copyBatch, type BatchCopy } from '../../e2e/batch-copy.ts';
import { ledgerRows, sumOf } from '../../e2e/ledger.ts';
import { runProgram, type ProgramEnd } from '../../e2e/running-program.ts';
import { readZip } from '../../e2e/zip-file.ts';
import type { LedgerRow } from '../../../scripted-gateway/ledger.ts';
import { describeWith } from '../../helpers/requires.ts';

const RUN_MS_MAX = 600_000;
const RUN_ID = 'look-around';
const ENVIRONMENTS =
  "env; for one in /proc/[0-9]*; do tr '\\0' '\\n' < $one/environ; done 2>&1; echo seen-it-all";
const ADDRESSES = 'cat /proc/net/tcp /proc/net/tcp6 /proc/net/unix';

const GATEWAY = `
kind: gateway-script
version: 1
keys: [{ key: os.environ/PARLEY_GATEWAY_KEY, name: probe, models: [acme/coder-1] }]
models: { acme/coder-1: { input: '1', output: '2' } }
scripts:
  - name: look
    turns:
      - { tool: terminal, arguments: { command: ${JSON.stringify(ENVIRONMENTS)} } }
      - { tool: terminal, arguments: { command: ${JSON.stringify(ADDRESSES)} } }
      - { tool: finish, arguments: { message: Done. } }
`;
const JOB = `
kind: job
version: 1
name: look-around
defaults: { model: coder }
conversations:
  - { id: look, prompt: Look around., tags: { team: search } }
collect: [trajectory]
cleanup: { sandbox: delete }
reconcile: { rows: gateway, settle: 0s }
`;

/** What a gateway of no usual kind might give: no session, and an id at the last row alone, if at any. */
function exportOf(rows: readonly LedgerRow[], hasPair: boolean): string {
  const lines = rows.map(({ time_start, model, cost_usd, request_id }, index) => {
    const id = hasPair && index === rows.length - 1 ? request_id : '';
    return `${time_start},${model},${cost_usd},USD,${id}\n`;
  });
  return `When,What,Price,Unit,request_id\n${lines.join('')}`;
}

describeWith('bwrap', 'the sandbox of an agent', () => {
  let copy: BatchCopy;
  let gateway: BatchGateway;
  let end: ProgramEnd;
  let observed: string;
  beforeAll(async () => {
    copy = copyBatch('namespaces');
    writeFileSync(path.join(copy.example, 'gateway.yaml'), GATEWAY);
    writeFileSync(path.join(copy.example, 'job.yaml'), JOB);
    gateway = await openGateway(copy);
    end = await runProgram(copy, 'bin/parley.js', ['run', 'job.yaml', '--run-id', RUN_ID], gateway.env);
    const zip = await readZip(readFileSync(path.join(copy.resultsDir, RUN_ID, 'look', 'trajectory.zip')));
    const events = zip.map(({ content }) => content.toString());
    observed = events.filter((text) => text.includes('TerminalObservation')).join('\n');
  }, RUN_MS_MAX);
  afterAll(async () => {
    await gateway?.stop();
    copy?.close();
  });

  it('G3: holds neither key nor address of the gateway in any environment', () => {
    expect([end.code, observed.includes('seen-it-all'), observed.includes('PATH=')]).toEqual([0, true, true]);
    const { PARLEY_GATEWAY_KEY: key = '', PARLEY_GATEWAY_URL: url = '' } = gateway.env;
    for (const secret of [key, new URL(url).host, `:${new URL(url).port}`]) {
      expect(secret).not.toBe('');
      expect(observed).not.toContain(secret);
    }
  });

  it('G3: has no address at which the gateway listens', () => {
    const port = Number(new URL(gateway.env['PARLEY_GATEWAY_URL'] ?? '').port);
    expect(observed).toContain('local_address');
    expect(observed.toUpperCase()).not.toContain(`:${port.toString(16).toUpperCase().padStart(4, '0')} `);
  });

  it('G19: its calls carry the user, which our proxy records and the gateway is not told', () => {
    const text = readFileSync(path.join(copy.resultsDir, RUN_ID, 'reconciliation.json'), 'utf8');
    const record = JSON.parse(text) as ReconciliationRecord;
    if (record.kind !== 'done') throw new Error(record.message);
    const [group, ...others] = record.result.breakdown.byUser;
    expect([group?.rows, others]).toEqual([3, []]);
    expect(group?.name).toMatch(/./);
    expect(ledgerRows(copy).map(({ user }) => user)).toEqual([null, null, null]);
  });

  it('G26: rows without ids are joined by model and time once one pair shows the clocks, up to their tag', async () => {
    const { code, records } = await reconcile(exportOf(ledgerRows(copy), true));
    expect(code).toBe(0);
    expect(records.find(({ type }) => type === 'reconciliation')).toMatchObject({
      rows: 3,
      assigned_nano_usd: Number(sumOf(ledgerRows(copy))),
      expectations: [{ bound: 'unmatched<=1%', kept: true }],
    });
    expect(records.filter(({ by }) => by === 'tag:team')).toMatchObject([{ name: 'search', rows: 3 }]);
  });

  it('G26: without any id nothing says how the clocks differ, and nothing is certain (D35)', async () => {
    const { code, records } = await reconcile(exportOf(ledgerRows(copy), false));
    expect(code).toBe(7);
    expect(records.find(({ type }) => type === 'reconciliation')).toMatchObject({
      rows: 3,
      assigned_nano_usd: 0,
      expectations: [{ bound: 'unmatched<=1%', kept: false }],
    });
  });

  it('ends with 7 when more is unmatched than was expected, and names it in both directions', async () => {
    const [first, ...others] = ledgerRows(copy);
    if (first === undefined) throw new Error('nothing was billed');
    const { code, records } = await reconcile(exportOf([{ ...first, model: 'acme/other' }, ...others], true));
    expect(code).toBe(7);
    // Beside a row of another the one without an id is probable and no more, and so its call is not billed yet (D35).
    expect(records.filter(({ by }) => by === 'model')).toMatchObject([
      { name: 'acme/coder-1', rows: 2, unassigned_nano_usd: 0, unbilled_calls: 2 },
      { name: 'acme/other', rows: 1, assigned_nano_usd: 0 },
    ]);
  });

  async function reconcile(csv: string) {
    const file = path.join(copy.example, 'export.csv');
    writeFileSync(file, csv);
    const maps = ['started_at=When', 'model=What', 'cost=Price', 'currency=Unit'].flatMap((one) => [
      '--map',
      one,
    ]);
    const flags = ['--rows', file, ...maps, '--expect', 'unmatched<=1%', '--json'];
    const { code, stdout } = await runProgram(
      copy,
      'bin/parley.js',
      ['reconcile', RUN_ID, ...flags],
      gateway.env,
    );
    const records = stdout
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
    return { code, records };
  }
});
