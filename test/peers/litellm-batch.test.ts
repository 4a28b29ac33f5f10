/**
 * The first batch with LiteLLM between our proxy and the vendor: agent loops of many steps, in both ways to name the
 * gateway. What LiteLLM recorded is the export that the run is reconciled with.
 */
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { ReconciliationRecord } from '../../core/reconcile/reconciliation-record.ts';
import { openGateway, type BatchGateway } from '../e2e/batch-gateway.ts';
import { copyBatch, type BatchCopy } from '../e2e/batch-copy.ts';
import { ledgerRows } from '../e2e/ledger.ts';
import { KEYS, Results } from '../e2e/results.ts';
import { runProgram, type ProgramEnd } from '../e2e/running-program.ts';
import { describeWith } from '../helpers/requires.ts';
import { startLitellm, type Litellm } from './litellm.ts';

const TEAM_KEY = 'sk-litellm-batch';
const RUN_MS_MAX = 600_000;
/** As the script of the vendor has it. */
const MODEL = 'acme/coder-1';
const PRICES = { input_cost_per_token: 0.0000012375, output_cost_per_token: 0.0000049625 };

/** Run → the name of the model on LiteLLM: each run has its own vendor behind it. */
const KINDS = { 'other-product': MODEL, 'same-product': 'coder' } as const;

interface BatchRun {
  readonly copy: BatchCopy;
  readonly vendor: BatchGateway;
  readonly group: string;
}

describeWith('litellm', 'the first batch through LiteLLM', () => {
  const batches = new Map<string, BatchRun>();
  const ends = new Map<string, ProgramEnd>();
  let litellm: Litellm;
  let record: Server;

  beforeAll(async () => {
    for (const [runId, group] of Object.entries(KINDS)) {
      const copy = copyBatch('none');
      batches.set(runId, { copy, group, vendor: await openGateway(copy) });
    }
    litellm = await startLitellm({
      keys: { [TEAM_KEY]: { alias: 'batch', team: 'blue' } },
      models: [...batches.values()].map(({ group, vendor: { env } }) => ({
        name: group,
        params: {
          model: `openai/${MODEL}`,
          api_base: env['PARLEY_GATEWAY_URL'],
          api_key: env['PARLEY_GATEWAY_KEY'],
          ...PRICES,
        },
      })),
    });
    const { recordFile, origin } = litellm;
    record = createServer((_, res) => void res.end(readFileSync(recordFile)));
    await new Promise<void>((resolve) => record.listen(0, '127.0.0.1', resolve));
    const { port } = record.address() as AddressInfo;
    const targets: Readonly<Record<string, Record<string, string>>> = {
      'other-product': { PARLEY_MODEL: `openai/${MODEL}`, PARLEY_GATEWAY_URL: `${origin}/v1` },
      'same-product': { PARLEY_MODEL: 'proxyvendor_proxy/coder', PARLEY_GATEWAY_URL: origin },
    };
    const runs = [...batches].map(async ([runId, { copy, vendor }]) => {
      const env = {
        ...vendor.env,
        ...targets[runId],
        PARLEY_GATEWAY_KEY: TEAM_KEY,
        PARLEY_GATEWAY_EXPORT: `http://127.0.0.1:${port}/spend/logs`,
      };
      ends.set(runId, await runProgram(copy, 'bin/parley.js', ['run', 'job.yaml', '--run-id', runId], env));
    });
    await Promise.all(runs);
  }, RUN_MS_MAX);
  afterAll(async () => {
    record?.close();
    await litellm?.stop();
    for (const { copy, vendor } of batches.values()) {
      await vendor.stop();
      copy.close();
    }
  });

  const batchOf = (runId: string): BatchRun => {
    const batch = batches.get(runId);
    if (batch === undefined) throw new Error(`there is no run ${runId}`);
    return batch;
  };

  it.each(Object.keys(KINDS))('G33: %s: every conversation of the batch succeeds', (runId) => {
    expect(ends.get(runId)?.code).toBe(0);
    const results = new Results(batchOf(runId).copy, runId);
    for (const key of KEYS) expect(results.patch(key)).toContain('diff --git');
  });

  it.each(Object.keys(KINDS))(
    'G33: %s: each row of its record is joined with its conversation by response id',
    (runId) => {
      const { copy } = batchOf(runId);
      const text = readFileSync(path.join(copy.resultsDir, runId, 'reconciliation.json'), 'utf8');
      const account = JSON.parse(text) as ReconciliationRecord;
      if (account.kind !== 'done') throw new Error(account.message);
      const { counts, conversations } = account.result;
      expect(counts).toMatchObject({ unbilled: 0, ambiguous: 0, bySession: 0, byWindow: 0 });
      expect(counts.byResponseId).toBe(ledgerRows(copy).length);
      expect(conversations.map(({ key }) => key).sort()).toEqual([...KEYS].sort());
      expect(conversations.every(({ rows }) => rows > 2)).toBe(true);
    },
  );

  it.each(Object.keys(KINDS))('G33: %s: LiteLLM counts the tokens that the vendor billed', async (runId) => {
    const { copy, group } = batchOf(runId);
    const billed = ledgerRows(copy);
    const rows = (await litellm.rows(0)).filter((row) => row.model_group === group);
    const sum = (all: readonly Counted[], field: keyof Counted): number =>
      all.reduce((total, row) => total + row[field], 0);
    for (const field of ['prompt_tokens', 'completion_tokens'] as const) {
      expect(sum(rows, field)).toBe(sum(billed, field));
    }
    expect(rows.map((row) => row.request_id).sort()).toEqual(billed.map((row) => row.request_id).sort());
  });
});

interface Counted {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}
