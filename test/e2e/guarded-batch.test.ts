/**
 * Real batches that meet their guards, on both engines: a quota that is used up trips the breaker within its count, and
 * an enforced budget is never exceeded; raised, the run goes on to its end.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { ledgerRows, sumOf } from './ledger.ts';
import type { ProgramEnd } from './running-program.ts';
import { openUpgradeBatch, recordsIn, type Edit } from './upgrade-batch.ts';

const ITEMS = 8;
const AT_ONCE = 2;
const BREAKER_COUNT = 3;
/** Nano-USD: three conversations of the example fit, and a fourth does not. */
const BUDGET = 12_000_000n;
const ALL_MS_MAX = 600_000;

type Env = Readonly<Record<string, string>>;
interface Ends {
  readonly end: ProgramEnd;
  readonly billed: bigint;
  /** After the budget was raised. */
  readonly resumed: ProgramEnd | null;
  readonly billedInAll: bigint;
}

const RUN_ARGS = ['--json', '--limit', String(ITEMS), '--concurrency', String(AT_ONCE)];

async function guarded(
  runId: string,
  edits: readonly Edit[],
  { env, resume }: { env: Env; resume?: string },
): Promise<Ends> {
  const batch = await openUpgradeBatch({ repositories: ITEMS, edits, env });
  try {
    const end = await batch.run(['run', 'job.yaml', '--run-id', runId, ...RUN_ARGS]);
    const billed = sumOf(ledgerRows(batch.copy));
    const resumed =
      resume === undefined ? null : await batch.run(['resume', runId, '--json', '--set', resume]);
    return { end, billed, resumed, billedInAll: sumOf(ledgerRows(batch.copy)) };
  } finally {
    await batch.close();
  }
}

/** Each is given once. */
const REFUSAL = '      - { status: 402, message: the quota of this account is used up }\n';

/** The vendor says in every answer that the account is used up. */
const usedUp = (engine: string, env: Env): Promise<Ends> =>
  guarded(
    `used-up-${engine}`,
    [
      ['gateway.yaml', '    turns:\n', `    turns:\n${REFUSAL.repeat(ITEMS)}`],
      ['job.yaml', 'count: 8', `count: ${BREAKER_COUNT}`],
    ],
    { env },
  );

const enforced = (engine: string, env: Env): Promise<Ends> =>
  guarded(
    `enforced-${engine}`,
    [
      [
        'job.yaml',
        'budget: { usd: 350, mode: enforce, soft: 80% }',
        'budget: { usd: 0.012, reserve: 0.004, mode: enforce }',
      ],
    ],
    { env, resume: 'budget=1' },
  );

function guards(ends: () => { readonly quota: Ends; readonly budget: Ends }): void {
  it('pauses within the count of the breaker when the quota is used up, and starts nothing more', () => {
    const { end } = ends().quota;
    expect(end.code, end.stderr).toBe(3);
    const records = recordsIn(end.stdout);
    const done = records.at(-1) as { readonly ended: Record<string, number>; readonly waiting: number };
    expect(done).toMatchObject({ type: 'done', mode: 'paused', reason: 'breaker:quota', in_flight: 0 });
    const failed = done.ended['failed'] ?? 0;
    expect(failed).toBeGreaterThanOrEqual(BREAKER_COUNT);
    // Those that had begun before the last one counted may still fail.
    expect(failed).toBeLessThanOrEqual(BREAKER_COUNT + AT_ONCE - 1);
    expect(done.waiting).toBe(ITEMS - failed);
    expect(records.filter(({ failure_class: failure }) => failure === 'quota').length).toBeGreaterThan(0);
  });

  it('spends no more than an enforced budget, to the nano-dollar of the bill', () => {
    const { end, billed } = ends().budget;
    expect(end.code, end.stderr).toBe(3);
    expect(recordsIn(end.stdout).at(-1)).toMatchObject({
      mode: 'paused',
      reason: 'budget',
      ended: { succeeded: 3 },
      waiting: ITEMS - 3,
      spent_nano_usd: Number(billed),
    });
    expect(billed).toBeLessThanOrEqual(BUDGET);
  });

  it('goes on with a raised budget, counts on from what was spent, and is reconciled', () => {
    const { resumed, billed, billedInAll } = ends().budget;
    expect(resumed?.code, resumed?.stderr).toBe(0);
    expect(billedInAll).toBeGreaterThan(billed);
    expect(recordsIn(resumed?.stdout ?? '').at(-1)).toMatchObject({
      ended: { succeeded: ITEMS },
      spent_nano_usd: Number(billedInAll),
      reconciliation: { total_nano_usd: Number(billedInAll), assigned_nano_usd: Number(billedInAll) },
    });
  });
}

describe('guards of a batch on the embedded engine', () => {
  let [quota, budget]: Ends[] = [];
  beforeAll(async () => {
    [quota, budget] = await Promise.all([usedUp('embedded', {}), enforced('embedded', {})]);
  }, ALL_MS_MAX);
  guards(() => ({ quota: quota as Ends, budget: budget as Ends }));
});

describeWith('temporal', 'guards of a batch on Temporal', () => {
  let server: DevServer;
  let [quota, budget]: Ends[] = [];
  beforeAll(async () => {
    server = await startServerForTests();
    const env = { PARLEY_ENGINE: 'temporal', TEMPORAL_ADDRESS: server.address };
    [quota, budget] = await Promise.all([
      usedUp('temporal', { ...env, PARLEY_TASK_QUEUE: 'used-up' }),
      enforced('temporal', { ...env, PARLEY_TASK_QUEUE: 'enforced' }),
    ]);
  }, ALL_MS_MAX);
  afterAll(() => server.stop());
  guards(() => ({ quota: quota as Ends, budget: budget as Ends }));
});
