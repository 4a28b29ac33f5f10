/** Reports of a run in a real store: which files are written, and what they say of its money. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { reconcileNow, reconcileRun } from '../../activities/reconcile-run.ts';
import { reportNow, reportRun } from '../../activities/report-run.ts';
import { secretScope } from '../../activities/redaction.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { PlanReport } from '../../core/plan/plan.ts';
import { NO_CONTEXT } from './reconcile-context.ts';
import { gatewayRow, rowsOf, RUN, runUnderTest, START, summaryNow } from './reconcile-world.ts';

const REPORT: readonly PlanReport[] = [
  { format: 'markdown', file: 'report.md' },
  { format: 'html', file: 'report.html' },
  { format: 'jsonl', file: 'items.jsonl' },
];
const COMMAND = { id: 'run/first-batch-1#10', type: 'reportRun', runId: RUN } as never;
const RECONCILE_COMMAND = { id: 'run/first-batch-1#9', type: 'reconcileRun', runId: RUN } as never;

describe('reportNow()', () => {
  it('writes every report of the plan and says where', async () => {
    const test = await runUnderTest({ plan: { report: REPORT } });
    const { files } = await reportNow(test.world, RUN);
    expect(files).toEqual(
      ['report.md', 'report.html', 'items.jsonl'].map((name) => path.join(test.folder, 'out', RUN, name)),
    );
    expect(await test.resultText('report.html')).toMatch(/^<!doctype html>/);
    expect((await test.resultText('items.jsonl')).trim().split('\n')).toHaveLength(2);
  });

  it('writes nothing when the plan asks for nothing', async () => {
    const test = await runUnderTest();
    expect(await reportNow(test.world, RUN)).toEqual({ files: [], lost: null });
    await expect(reportNow(test.world, 'nobody' as typeof RUN)).rejects.toMatchObject({
      code: 'plan_invalid',
    });
  });

  it('says in every form which calls of its time the store had lost, and not those of another time', async () => {
    const test = await runUnderTest({
      plan: { report: REPORT },
      run: { endedAt: START + 70_000 },
      export: rowsOf([]),
    });
    const loss = { calls: 2, costNanoUsd: nanoUsd(1_500_000), mayBeMore: false, seenAt: START + 90_000 };
    await test.world.spend.noteLoss({ ...loss, from: START - 200_000, to: START - 100_000 });
    expect((await reportNow(test.world, RUN)).lost).toBeNull();
    const ours = { ...loss, from: START + 1_000, to: START + 5_000 };
    await test.world.spend.noteLoss(ours);
    // The same at another start, when it was half brought back.
    await test.world.spend.noteLoss({ ...ours, seenAt: START + 95_000 });
    expect((await reportNow(test.world, RUN)).lost).toEqual(ours);
    const words = /the store had lost 2 calls of all runs, \$0\.001500, from 2026-11-21T04:30:01.000Z to/i;
    expect(await test.resultText('report.md')).toMatch(words);
    expect(await test.resultText('report.html')).toMatch(words);
    const [item = ''] = (await test.resultText('items.jsonl')).split('\n');
    expect(JSON.parse(item)).toMatchObject({ spend_lost: { calls: 2, cost_nano_usd: 1_500_000 } });
    const { lost } = await reconcileNow(test.world, RUN);
    expect(lost).toEqual(ours);
    expect(await test.resultText('reconciliation.json')).toContain('"spendLost"');
  });

  it('says of a run before that what was lost for good may be of it', async () => {
    const test = await runUnderTest({ run: { endedAt: START + 70_000 } });
    const later = { from: START + 500_000, to: START + 510_000, seenAt: START + 520_000 };
    await test.world.spend.noteLoss({ ...later, calls: 1, costNanoUsd: nanoUsd(0), mayBeMore: true });
    expect((await reportNow(test.world, RUN)).lost).toMatchObject({ calls: 1, mayBeMore: true });
  });

  it("prints the gateway's total, and a foreign row as unassigned", async () => {
    const rows = [gatewayRow(1), gatewayRow(2, { responseId: 'foreign', cost: nanoUsd(5_000_600) })];
    const test = await runUnderTest({ plan: { report: REPORT }, export: rowsOf(rows) });
    await test.spent({
      callId: 'c1',
      sessionId: test.conversation('a'),
      responseId: 'chatcmpl-1',
      cost: nanoUsd(1_234_000),
    });
    await test.spent({
      callId: 'c2',
      sessionId: test.conversation('a'),
      responseId: null,
      cost: null,
      costSource: 'unpriced',
      state: 'failed',
      httpStatus: 500,
    });
    await summaryNow(test.world, RUN);
    await reportNow(test.world, RUN);
    const markdown = await test.resultText('report.md');
    expect(markdown).toContain("| = total of the gateway's export | 6,235,167 |");
    expect(markdown).toContain('| + assigned to conversations | 1,234,567 |');
    expect(markdown).toContain('| + unassigned: no conversation of this run | 5,000,600 |');
    expect(markdown).toContain('| $0.001234 + 1 unpriced | $0.001235 |');
    expect(markdown).toContain('foreign, $0.005001: its id is that of no call of ours');
    expect(markdown).toContain('- b (conversation ');
    expect(markdown).toContain('It adds up');
  });

  it('reports the total of a saved CSV export to the nano-dollar', async () => {
    const test = await runUnderTest({ plan: { report: REPORT } });
    const csv = path.join(test.folder, 'spend.csv');
    const at = new Date(START).toISOString();
    writeFileSync(csv, `request_id,time_start,model,cost_usd\nx,${at},m,0.1000004\ny,${at},m,2e-7\n`);
    await summaryNow(test.world, RUN, csv);
    await reportNow(test.world, RUN);
    expect(await test.resultText('report.md')).toMatch(
      /\| = total of the export .*spend\.csv \| 100,000,600 \|/,
    );
  });

  it('says why there is no reconciliation', async () => {
    const test = await runUnderTest({ plan: { report: REPORT } });
    await reconcileRun(test.world)
      .run(RECONCILE_COMMAND, NO_CONTEXT)
      .catch(() => null);
    await reportNow(test.world, RUN);
    expect(await test.resultText('report.md')).toContain(
      'Not reconciled: export_unavailable: Cannot fetch the export of the gateway',
    );
    expect(await test.resultText('report.html')).not.toContain('It adds up: assigned');
  });

  it('says that a run which goes on is incomplete', async () => {
    const items = [
      { key: 'a' },
      { key: 'b', phase: 'working', outcome: null, endedAt: null } as const,
      { key: 'c', phase: 'waiting', outcome: null, attempt: 0 } as const,
    ];
    const run = { phase: 'running', mode: 'draining', reason: 'drained', ended: { succeeded: 1 } } as const;
    const test = await runUnderTest({ plan: { report: REPORT }, items, run });
    await reportNow(test.world, RUN);
    const markdown = await test.resultText('report.md');
    expect(markdown).toContain('Incomplete: 2 of 3 conversations have not ended (draining: drained)');
    expect(markdown).toContain('| not ended: working | - | 1 |');
    expect(markdown).toContain('Not reconciled yet');
  });

  it('links the collected files that exist, and no others', async () => {
    const test = await runUnderTest({
      plan: {
        report: REPORT,
        collect: [{ kind: 'diff' }, { kind: 'files', globs: ['notes (1).md', '*.txt'] }],
      },
    });
    const write = (name: string) =>
      test.world.results.write({ runId: RUN, key: 'a', name }, new Uint8Array([1]));
    await write('changes.patch');
    await write('files/notes (1).md');
    await reportNow(test.world, RUN);
    const links = [...(await test.resultText('report.html')).matchAll(/href="([^"]*)"/g)].map(
      ([, href]) => href,
    );
    expect(links).toEqual(['#sum', './a/changes.patch', './a/files/notes%20%281%29.md']);
  });

  it('links run and conversations to the console where it is known, and to files where it is not', async () => {
    const test = await runUnderTest({ plan: { report: REPORT } });
    const consoleUrl = 'https://parley.example/team/"console"';
    const world = { ...test.world, deployment: { ...test.world.deployment, consoleUrl } };
    await reportNow(world, RUN);
    const html = await test.resultText('report.html');
    const quoted = consoleUrl.replaceAll('"', '&quot;');
    expect(html).toContain(`href="${quoted}/runs/${RUN}/report"`);
    for (const key of ['a', 'b'])
      expect(html).toContain(`href="${quoted}/conversations/${test.conversation(key)}"`);
    await reportNow(test.world, RUN);
    expect(await test.resultText('report.html')).not.toContain('/conversations/');
  });

  it('hides the value of a secret that a reason quotes', async () => {
    const test = await runUnderTest({
      plan: { report: REPORT },
      items: [{ key: 'a', outcome: 'failed', detail: 'refused hunter2-token' }],
    });
    await test.world.vault.put(secretScope(test.conversation('a')), 'TOKEN', 'hunter2-token');
    await reportNow(test.world, RUN);
    for (const name of ['report.md', 'report.html', 'items.jsonl'])
      expect(await test.resultText(name)).not.toContain('hunter2');
  });
});

describe('reportRun', () => {
  it('answers when the files are there', async () => {
    const test = await runUnderTest({ plan: { report: REPORT } });
    expect(await reportRun(test.world).run(COMMAND, NO_CONTEXT)).toEqual({
      type: 'runReported',
      commandId: 'run/first-batch-1#10',
    });
    expect(await test.resultText('report.md')).toContain('# Run first-batch-1');
  });
});
