/** Reconciliation of a run: what is joined, what stays, what is written (D27). */
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { reconcileRun } from '../../activities/reconcile-run.ts';
import { NO_CONTEXT } from './reconcile-context.ts';
import { retryOf } from '../../core/machine/resource.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { GatewayRow } from '../../core/money/spend.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { PlanReconcile } from '../../core/plan/plan.ts';
import { readRecord } from '../../activities/reconcile/reconciliation-record.ts';
import {
  gatewayRow,
  NOW,
  RECONCILE,
  rowsOf,
  RUN,
  runUnderTest,
  START,
  summaryNow,
} from './reconcile-world.ts';
import type { ReconciliationDone } from '../../core/reconcile/reconciliation-record.ts';

const COMMAND = { id: 'run/first-batch-1#9', type: 'reconcileRun', runId: RUN } as never;

async function record(test: Awaited<ReturnType<typeof runUnderTest>>): Promise<ReconciliationDone> {
  return JSON.parse(await test.resultText('reconciliation.json')) as ReconciliationDone;
}

/** As reports read them. */
async function rowsInOrder({ world }: Awaited<ReturnType<typeof runUnderTest>>) {
  const kept = await readRecord(world, RUN);
  return kept?.kind === 'done' ? kept.rows : [];
}

describe('reconcileNow()', () => {
  it('assigns by response id and leaves a foreign row unassigned, with exact sums', async () => {
    const foreign = gatewayRow(3, { responseId: 'chatcmpl-foreign', cost: nanoUsd(999_001) });
    const test = await runUnderTest({
      export: rowsOf([gatewayRow(1), gatewayRow(2, { cost: nanoUsd(7) }), foreign]),
    });
    await test.spent({ callId: 'c1', sessionId: test.conversation('a'), responseId: 'chatcmpl-1' });
    await test.spent({ callId: 'c2', sessionId: test.conversation('b'), responseId: 'chatcmpl-2' });
    expect(await summaryNow(test.world, RUN)).toEqual({
      rows: 3,
      totalNanoUsd: 2_233_575,
      assignedNanoUsd: 1_234_574,
      ambiguousNanoUsd: 0,
      unassignedNanoUsd: 999_001,
      withinTolerance: null,
    });
    const { result, rows } = await record(test);
    expect(result.conversations.map(({ key, assigned }) => [key, assigned])).toEqual([
      ['a', 1_234_567],
      ['b', 7],
    ]);
    expect(rows.map(({ kind }) => kind)).toEqual(['assigned', 'assigned', 'unassigned']);
    expect(rows.every((row) => row.kind !== 'assigned' || !row.isLate)).toBe(true);
    expect(rows[2]).toMatchObject({ why: 'foreign', responseId: 'chatcmpl-foreign', position: 3 });
  });

  it('gives a row without a known id to the one conversation whose call no row names', async () => {
    const stray = gatewayRow(2, { responseId: null, startedAt: START + 40_500, promptTokens: 99 });
    const foreign = gatewayRow(3, { responseId: 'never-seen', startedAt: START + 40_500 });
    const { test, rows } = await besideAborted([gatewayRow(1), stray]);
    expect(rows[1]).toMatchObject({ kind: 'assigned', by: 'window', conversationId: test.conversation('b') });
    // Beside a foreign row it may be foreign, too: an aborted call has no tokens that identify it (D35).
    const { test: shared, rows: doubted } = await besideAborted([gatewayRow(1), stray, foreign]);
    const candidates = [shared.conversation('b')];
    expect(doubted[1]).toMatchObject({ kind: 'ambiguous', why: 'time_alone', candidates });
    expect(doubted[2]).toMatchObject({ kind: 'unassigned', why: 'foreign' });
  });

  /** A call of the first conversation that is billed by its id, and one of the second that was aborted. */
  async function besideAborted(billed: readonly GatewayRow[]) {
    const test = await runUnderTest({ export: rowsOf(billed) });
    await test.spent({ callId: 'c1', sessionId: test.conversation('a'), responseId: 'chatcmpl-1' });
    await test.spent({
      callId: 'c2',
      sessionId: test.conversation('b'),
      responseId: null,
      state: 'aborted',
      startedAt: START + 40_000,
    });
    await summaryNow(test.world, RUN);
    return { test, rows: await rowsInOrder(test) };
  }

  it('keeps a row ambiguous when two conversations have such a call', async () => {
    const test = await runUnderTest({ export: rowsOf([gatewayRow(1, { responseId: null })]) });
    await test.spent({
      callId: 'c1',
      sessionId: test.conversation('a'),
      responseId: null,
      state: 'interrupted',
      endedAt: NOW,
    });
    await test.spent({
      callId: 'c2',
      sessionId: test.conversation('b'),
      responseId: null,
      state: 'interrupted',
      endedAt: NOW,
    });
    expect(await summaryNow(test.world, RUN)).toMatchObject({
      ambiguousNanoUsd: 1_234_567,
      assignedNanoUsd: 0,
    });
  });

  it('counts a call that was refused as no candidate, and one of another caller as matched with it', async () => {
    const plan = { reconcile: { ...RECONCILE, unmatchedNanoUsdMax: 0 } };
    const test = await runUnderTest({ plan, export: rowsOf([gatewayRow(1), gatewayRow(2)]) });
    await test.spent({
      callId: 'c1',
      sessionId: test.conversation('a'),
      responseId: null,
      state: 'failed',
      httpStatus: 429,
    });
    await test.spent({ callId: 'c2', sessionId: null, responseId: 'chatcmpl-1' });
    await test.spent({ callId: 'c3', sessionId: 'd'.repeat(32), responseId: 'chatcmpl-2' });
    const summary = await summaryNow(test.world, RUN);
    expect(summary).toMatchObject({
      assignedNanoUsd: 0,
      unassignedNanoUsd: 2_469_134,
      withinTolerance: true,
    });
    expect((await record(test)).otherCallersNanoUsd).toBe(2_469_134);
  });

  it('compares what nobody can explain with the bound of the job, credits and charges alike', async () => {
    const rows = [gatewayRow(1, { cost: nanoUsd(600) }), gatewayRow(2, { cost: nanoUsd(-600) })];
    const within = async (unmatchedNanoUsdMax: number) => {
      const test = await runUnderTest({
        plan: { reconcile: { ...RECONCILE, unmatchedNanoUsdMax } },
        export: rowsOf(rows),
      });
      return (await summaryNow(test.world, RUN)).withinTolerance;
    };
    expect([await within(1_199), await within(1_200)]).toEqual([false, true]);
  });

  it('compares the calls that nobody billed with the bound of the job, with that of money or alone', async () => {
    const within = async (bounds: Partial<PlanReconcile>) => {
      const test = await runUnderTest({
        plan: { reconcile: { ...RECONCILE, ...bounds } },
        export: rowsOf([gatewayRow(1), gatewayRow(9, { responseId: 'foreign' })]),
      });
      await test.spent({ callId: 'c1', sessionId: test.conversation('a'), responseId: 'chatcmpl-1' });
      await test.spent({ callId: 'c2', sessionId: test.conversation('b'), responseId: 'chatcmpl-2' });
      return (await summaryNow(test.world, RUN)).withinTolerance;
    };
    expect([await within({ unbilledMax: 0 }), await within({ unbilledMax: 1 })]).toEqual([false, true]);
    const loose = { unmatchedNanoUsdMax: 2_000_000 };
    expect([await within(loose), await within({ ...loose, unbilledMax: 0 })]).toEqual([true, false]);
    expect(await within({ unmatchedNanoUsdMax: 0, unbilledMax: 5 })).toBe(false);
    expect(await within({})).toBeNull();
  });

  it('keeps what was written when a row later in the file cannot be read', async () => {
    const test = await runUnderTest({ export: rowsOf([gatewayRow(1)]) });
    await summaryNow(test.world, RUN);
    const before = await test.resultText('reconciliation.json');
    const file = path.join(test.folder, 'spend.jsonl');
    const row = { time: new Date(START).toISOString(), model: 'm', cost: 1 };
    writeFileSync(file, `${`${JSON.stringify(row)}\n`.repeat(20_000)}{"time":"noon"}\n`);
    await expect(summaryNow(test.world, RUN, file)).rejects.toMatchObject({
      code: 'export_invalid',
      message: expect.stringContaining(
        'Cannot read row 20001 of the export: its field "started_at"',
      ) as string,
    });
    expect(await test.resultText('reconciliation.json')).toBe(before);
    expect(readdirSync(path.join(test.folder, 'out', RUN))).toEqual(['reconciliation.json']);
  });

  it('joins the conversations of every attempt of an item', async () => {
    const test = await runUnderTest({
      items: [{ key: 'a', attempt: 2 }],
      export: rowsOf([gatewayRow(1), gatewayRow(2)]),
    });
    await test.spent({ callId: 'c1', sessionId: test.conversation('a', 1), responseId: 'chatcmpl-1' });
    await test.spent({ callId: 'c2', sessionId: test.conversation('a', 2), responseId: 'chatcmpl-2' });
    await summaryNow(test.world, RUN);
    const { result } = await record(test);
    expect(result.conversations).toHaveLength(2);
    expect(result.unassigned).toBe(0);
  });

  it('believes a session id in the export only where headers are forwarded', async () => {
    const assigned = async (forwardsHeaders: boolean) => {
      const test = await runUnderTest({ forwardsHeaders });
      const row = gatewayRow(1, { responseId: null, metadataSessionId: test.conversation('a') });
      const world = { ...test.world, gatewayExport: { ...test.world.gatewayExport, ...rowsOf([row]) } };
      return (await summaryNow(world, RUN)).assignedNanoUsd;
    };
    expect([await assigned(false), await assigned(true)]).toEqual([0, 1_234_567]);
  });

  it('takes the rows of our own proxy, unpriced calls in no amount, and without other callers', async () => {
    const test = await runUnderTest({ plan: { reconcile: { ...RECONCILE, rows: { from: 'proxy' } } } });
    await test.spent({
      callId: 'c1',
      sessionId: test.conversation('a'),
      responseId: null,
      cost: nanoUsd(40),
    });
    await test.spent({
      callId: 'c2',
      sessionId: test.conversation('b'),
      responseId: 'x',
      cost: null,
      costSource: 'unpriced',
    });
    await test.spent({ callId: 'c3', sessionId: 'd'.repeat(32), responseId: 'y' });
    expect(await summaryNow(test.world, RUN)).toMatchObject({
      rows: 2,
      totalNanoUsd: 40,
      assignedNanoUsd: 40,
    });
  });

  it('asks for rows from a little before the run to a little after its end', async () => {
    const asked: object[] = [];
    const rows = (interval: object) => (asked.push(interval), Promise.resolve([]));
    const test = await runUnderTest({ run: { endedAt: START + 90_000 }, export: { rows } });
    await summaryNow(test.world, RUN);
    expect(asked).toEqual([{ from: START - 30_000, to: START + 390_001 }]);
  });

  it('reads a saved export instead, as CSV and as JSON lines with exponents', async () => {
    const test = await runUnderTest();
    await test.spent({ callId: 'c1', sessionId: test.conversation('a'), responseId: 'chatcmpl-1' });
    const at = new Date(START + 1_000).toISOString();
    const csv = path.join(test.folder, 'spend.csv');
    writeFileSync(
      csv,
      `request_id,time_start,model,cost_usd,tags\r\nchatcmpl-1,${at},openai/small,0.000001237,"[""a"",""b""]"\r\n,${at},other,0.5,\r\n`,
    );
    expect(await summaryNow(test.world, RUN, csv)).toMatchObject({
      rows: 2,
      assignedNanoUsd: 1_237,
      unassignedNanoUsd: 500_000_000,
    });
    const jsonl = path.join(test.folder, 'spend.jsonl');
    writeFileSync(
      jsonl,
      `{"request_id":"chatcmpl-1","startTime":"${at}","model":"m","spend":1.237e-06}\n{"id":"z","time":"${at}","model":"m","cost":"5E-1"}\n`,
    );
    expect(await summaryNow(test.world, RUN, jsonl)).toMatchObject({
      rows: 2,
      assignedNanoUsd: 1_237,
      unassignedNanoUsd: 500_000_000,
    });
  });

  it('writes the same bytes for the same rows', async () => {
    const test = await runUnderTest({ export: rowsOf([gatewayRow(1), gatewayRow(2)]) });
    await summaryNow(test.world, RUN);
    const first = await test.resultText('reconciliation.json');
    await summaryNow(test.world, RUN);
    expect(await test.resultText('reconciliation.json')).toBe(first);
    expect(first).not.toContain('name-of-a-key');
  });

  it('refuses a run that is not there, and asks the gateway for a job that named no rows', async () => {
    const test = await runUnderTest({ plan: { reconcile: null }, export: rowsOf([gatewayRow(1)]) });
    await expect(summaryNow(test.world, 'nobody' as typeof RUN)).rejects.toMatchObject({
      code: 'not_found',
    });
    expect(await summaryNow(test.world, RUN)).toMatchObject({ rows: 1 });
  });
});

describe('reconcileRun', () => {
  it('answers with the summary', async () => {
    const test = await runUnderTest({ export: rowsOf([gatewayRow(1)]) });
    const answer = await reconcileRun(test.world).run(COMMAND, NO_CONTEXT);
    expect(answer).toMatchObject({
      type: 'runReconciled',
      commandId: 'run/first-batch-1#9',
      summary: { rows: 1 },
    });
  });

  it('leaves why it failed for the report, and an unreachable export is asked again', async () => {
    const test = await runUnderTest();
    const activity = reconcileRun(test.world);
    const error = await activity.run(COMMAND, NO_CONTEXT).catch((caught: unknown) => caught as ParleyError);
    expect(error).toMatchObject({ code: 'export_unavailable', retry: true });
    expect(retryOf('reconcileRun').attemptsMax).toBeGreaterThan(1);
    expect(activity.failed(COMMAND, error as ParleyError)).toMatchObject({
      type: 'reconcileFailed',
      reason: expect.stringContaining('export_unavailable: Cannot fetch') as string,
    });
    expect(JSON.parse(await test.resultText('reconciliation.json'))).toMatchObject({
      kind: 'failed',
      code: 'export_unavailable',
    });
  });

  it('does not ask again for an export that cannot be read', async () => {
    const invalid = new ParleyError(
      'export_invalid',
      'Cannot read row 3 of the export: "cost_usd" is missing',
    );
    const test = await runUnderTest({ export: { rows: () => Promise.reject(invalid) } });
    await expect(reconcileRun(test.world).run(COMMAND, NO_CONTEXT)).rejects.toMatchObject({
      code: 'export_invalid',
      retry: false,
    });
  });
});
