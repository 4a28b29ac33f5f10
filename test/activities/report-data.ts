/**
 * Made-up report data for tests of its layout.
 * Owns a run with one of everything: failures, retries, unpriced calls, ambiguous and foreign rows, hostile names.
 */
import type { ReconciliationDone } from '../../core/reconcile/reconciliation-record.ts';
import { NO_SPEND } from '../../report/own-spend.ts';
import { relativeLink } from '../../activities/report/gather-report.ts';
import type { DeliveredItem, OwnSpend, ReportData, ReportItem } from '../../report/report-data.ts';
import { runId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import type { RunItemRow } from '../../core/machine/projection.ts';
import type { Reconciliation } from '../../core/reconcile/reconcile-result.ts';
import { reconcile } from '../../core/reconcile/reconcile.ts';
import { conversationNumber, runItemRow, runRow, sandboxNumber, spendRow } from '../contract/store-rows.ts';
import { gatewayRow, START } from './reconcile-world.ts';

const RUN = runId('first-batch-20261121t043000-9f3c');
export const HOSTILE =
  '<script>alert(1)</script> | [x](javascript:1) `a` **b** &amp; "q" \'s\' \u202Eevil\n# head';

/** What became of the branches of the items, in their order. */
const DELIVERIES: readonly DeliveredItem[] = [
  {
    state: 'pushed',
    repository: 'acme/shop',
    branch: 'parley/r/replace-substr',
    commit: 'c0ffee'.repeat(6),
    pullRequest: null,
    problem: null,
  },
  {
    state: 'nothing',
    repository: 'acme/shop',
    branch: 'parley/r/esm',
    commit: null,
    pullRequest: null,
    problem: null,
  },
  {
    state: 'failed',
    repository: 'acme/shop',
    branch: HOSTILE,
    commit: null,
    pullRequest: null,
    problem: `deliver_refused: ${HOSTILE}`,
  },
];

export function reportItem(
  key: string,
  row: Partial<RunItemRow>,
  spend: Partial<OwnSpend> = {},
  files: readonly string[] = [],
  evidence: Partial<ReportItem> = {},
): ReportItem {
  const base = {
    runId: RUN,
    phase: 'ended',
    attempt: 1,
    sandboxId: sandboxNumber(1),
    admittedAt: START,
    endedAt: START + 65_000,
  } as const;
  return {
    row: runItemRow(key, { ...base, ...row }),
    key,
    entry: key.split('/')[0] ?? key,
    model: 'coder',
    matrix: {},
    tags: { team: 'blue' },
    spend: { ...NO_SPEND, ...spend },
    files: files.map((name) => ({ name, href: relativeLink(`${key}/${name}`) })),
    findings: [],
    scores: [],
    check: [],
    delivery: null,
    prompt: { text: `Do ${key}.`, cut: 0 },
    answer: null,
    patch: null,
    checkCommand: null,
    checkOutput: null,
    ...evidence,
  };
}

const PATCH =
  'diff --git a/a.js b/a.js\n--- a/a.js\n+++ b/a.js\n@@ -1,2 +1,2 @@\n-a.substr(1)\n+a.slice(1)\n same\n';

const ITEMS: readonly ReportItem[] = [
  reportItem(
    'replace-substr',
    { outcome: 'succeeded', executionStatus: 'FINISHED' },
    { calls: 12, promptTokens: 34_567, completionTokens: 890, nanoUsd: 1_234_567 },
    ['trajectory.zip', 'changes.patch', 'verify.log'],
    {
      prompt: { text: 'Replace substr() by slice().\n\nKeep the tests green.', cut: 0 },
      answer: { text: 'I replaced 3 calls; the tests are green.', cut: 0 },
      patch: { text: PATCH, cut: 1_200 },
      checkCommand: 'npm test',
      checkOutput: { text: 'exit code 0\n12 tests pass', cut: 0 },
    },
  ),
  reportItem(
    'matrix/esm_entry/3.10',
    { outcome: 'check_failed', executionStatus: 'FINISHED', detail: 'verify: exit code 1' },
    { calls: 3, unpriced: 1, promptTokens: 100, completionTokens: 10, nanoUsd: 500 },
    ['files/odd (name) [1].md'],
    {
      check: ['  expected 1 < 2 & "3"', '```', '<b>no</b> \u001B[31mred\u001B[0m'],
      findings: [
        { code: 'secret', result: 'changes.patch', says: 'withheld: it holds the value of a secret' },
      ],
      checkCommand: 'npm test',
      checkOutput: {
        text: 'exit code 1\n  expected 1 < 2 & "3"\n```\n<b>no</b> \u001B[31mred\u001B[0m',
        cut: 0,
      },
    },
  ),
  reportItem(
    'hostile',
    { outcome: 'failed', failureClass: 'infra', attempt: 3, detail: HOSTILE, sandboxId: null },
    { calls: 2, unpriced: 2 },
    [],
    {
      prompt: { text: HOSTILE, cut: 0 },
      answer: { text: HOSTILE, cut: 9 },
      patch: { text: `+${HOSTILE}`, cut: 0 },
    },
  ),
];

const GATEWAY_ROWS = [
  gatewayRow(1, { responseId: 'r1', cost: nanoUsd(1_234_567) }),
  gatewayRow(2, { responseId: 'r1', cost: nanoUsd(1) }),
  gatewayRow(3, { responseId: null, cost: nanoUsd(400) }),
  gatewayRow(4, { responseId: 'foreign', model: HOSTILE, cost: nanoUsd(999_600) }),
];

export function reconciliationOf(
  result: Reconciliation,
  rows: typeof GATEWAY_ROWS = GATEWAY_ROWS,
): ReconciliationDone {
  const { verdicts, ...rest } = result;
  return {
    format: 1,
    kind: 'done',
    runId: RUN,
    planHash: 'c0ffee',
    reconciledAt: START + 120_000,
    source: { from: 'gateway' },
    interval: { from: START - 30_000, to: START + 400_000 },
    isForwarding: false,
    summary: {
      rows: result.counts.rows,
      totalNanoUsd: result.total,
      assignedNanoUsd: result.assigned,
      ambiguousNanoUsd: result.ambiguous,
      unassignedNanoUsd: result.unassigned,
      withinTolerance: false,
    },
    unmatchedNanoUsdMax: 1_000,
    otherCallersNanoUsd: nanoUsd(0),
    result: rest,
    rows: verdicts.map((verdict, index) => {
      const { responseId = null, startedAt = 0, model = '' } = rows[index] ?? {};
      return { ...verdict, responseId, startedAt, model };
    }),
  };
}

const CALL = { startedAt: START + 900, endedAt: START + 1_900 };
const RESULT = reconcile({
  gatewayRows: GATEWAY_ROWS,
  spendRows: [
    spendRow('c1', { ...CALL, sessionId: conversationNumber(1), responseId: 'r1' }),
    spendRow('c2', { ...CALL, sessionId: conversationNumber(2), responseId: 'unbilled' }),
    spendRow('c3', {
      ...CALL,
      sessionId: conversationNumber(3),
      responseId: null,
      state: 'aborted',
      promptTokens: null,
      completionTokens: null,
    }),
  ],
  conversations: ITEMS.map(({ key }, index) => ({
    conversationId: conversationNumber(index + 1),
    key,
    tags: {},
    attemptIds: [],
  })),
  isForwarding: false,
  windowBeforeMs: 30_000,
  windowAfterMs: 300_000,
  ambiguous: 'split_by_tokens',
});

export const COMPLETE: ReportData = {
  run: runRow({
    runId: RUN,
    name: 'first-batch',
    planHash: 'c0ffee',
    phase: 'finished',
    total: 3,
    inFlight: 0,
    ended: { succeeded: 1, check_failed: 1, failed: 1 },
    createdAt: START,
    endedAt: START + 130_000,
    spentNanoUsd: 1_235_067,
  }),
  last: {
    runId: runId('first-batch-1'),
    total: 3,
    succeeded: 2,
    spentNanoUsd: 2_000_000,
    durationMs: 100_000,
  },
  description: 'Three coding tasks.',
  labels: { team: 'example' },
  toleratedFailures: 1,
  asksReconciliation: true,
  items: ITEMS.map((item, index) => ({ ...item, delivery: DELIVERIES[index] ?? null })),
  spend: { calls: 17, unpriced: 3, promptTokens: 34_667, completionTokens: 900, nanoUsd: 1_235_067 },
  spendLost: null,
  lastSteps: [
    { step: 0, state: 'sent', at: START + 131_000, problem: null },
    {
      step: 1,
      state: 'failed',
      at: START + 132_000,
      problem: { code: 'notify_refused', message: `Cannot notify: ${HOSTILE}` },
    },
  ],
  reconciliation: reconciliationOf(RESULT),
  exactSkewsMs: [-900, -900, 1_700],
  consoleUrl: null,
  writtenAt: START + 130_000,
};

export const INCOMPLETE: ReportData = {
  ...COMPLETE,
  run: {
    ...COMPLETE.run,
    phase: 'running',
    mode: 'paused',
    reason: 'budget',
    ended: { succeeded: 1 },
    endedAt: null,
  },
  items: [
    ...ITEMS.slice(0, 1),
    reportItem(
      'working',
      { phase: 'working', executionStatus: 'RUNNING', endedAt: null },
      { calls: 1, nanoUsd: 9 },
    ),
    { ...reportItem('never', {}), row: null },
  ],
  last: null,
  lastSteps: [],
  reconciliation: null,
};

export const UNRECONCILED: ReportData = {
  ...COMPLETE,
  reconciliation: {
    format: 1,
    kind: 'failed',
    runId: RUN,
    planHash: 'c0ffee',
    failedAt: START + 120_000,
    code: 'export_unavailable',
    message: 'Cannot fetch the export of the gateway: status 503: <busy>',
  },
};
