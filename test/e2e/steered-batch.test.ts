/**
 * `parley ctl` on a real batch that goes on in another process, on both engines: each action acts on it while it runs,
 * and on Temporal also when no process owns the data directory.
 */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DevServer } from '../../temporal/dev-server/start-dev-server.ts';
import { describeWith } from '../helpers/requires.ts';
import { startServerForTests } from '../helpers/temporal-tools.ts';
import { ledgerRows, sumOf } from './ledger.ts';
import type { ProgramEnd } from './running-program.ts';
import { itemOf, SteeredRun, type Step } from './steered-run.ts';
import { openUpgradeBatch, recordsIn, type UpgradeBatch } from './upgrade-batch.ts';

const ITEMS = 8;
const ALL_MS_MAX = 600_000;
const REQUEUED = 'acme/service-001';
const CANCELLED = 'acme/service-008';

interface Steered {
  readonly set: Step;
  readonly pause: Step;
  readonly requeue: Step;
  readonly cancel: Step;
  readonly resume: Step;
  readonly drain: Step;
  readonly drained: ProgramEnd;
  readonly done: ProgramEnd;
  readonly items: Step['items'];
  readonly billed: bigint;
}

interface Steering {
  /** Environment of every command. */
  readonly env: Readonly<Record<string, string>>;
  /** Environment of `ctl set`, beside that. */
  readonly setEnv?: (batch: UpgradeBatch) => Readonly<Record<string, string>>;
  /** Between the drain and the resume: no process owns the data directory. */
  readonly ownerless?: (run: SteeredRun) => Promise<void>;
}

async function steer(runId: string, { env, setEnv, ownerless }: Steering): Promise<Steered> {
  const batch = await openUpgradeBatch({ repositories: ITEMS, env });
  const run = new SteeredRun(batch, runId);
  try {
    const program = await run.begin(['--limit', String(ITEMS), '--concurrency', '1']);
    await run.until('the first has ended', (rows) => itemOf(rows, REQUEUED).phase === 'ended');
    // However long a command takes: what a person acts on must not have ended before they act.
    batch.freezeGateway();
    const set = await run.ctl(['set', 'concurrency=3'], ({ row }) => row.inFlight === 3, setEnv?.(batch));
    const isHeld = ({ row }: Pick<Step, 'row'>): boolean => row.mode === 'paused' && row.reason === 'user';
    const pause = await run.ctl(['pause'], isHeld);
    const requeue = await run.ctl(
      ['requeue', REQUEUED],
      (rows) => itemOf(rows, REQUEUED).phase === 'waiting',
    );
    const cancel = await run.ctl(['cancel', CANCELLED], (rows) => itemOf(rows, CANCELLED).phase === 'ended');
    batch.thawGateway();
    await run.until('nothing is in flight', ({ row }) => row.inFlight === 0);
    batch.freezeGateway();
    const resume = await run.ctl(['resume'], ({ row }) => row.mode === 'normal' && row.inFlight > 0);
    const drain = await run.ctl(['drain'], ({ row }) => row.mode === 'draining');
    batch.thawGateway();
    const drained = await program.ended;
    await ownerless?.(run);
    const done = await run.resume();
    const { items } = await run.rows();
    // The times are for readers of the log; the speed of a loaded machine is no fact of the product.
    process.stderr.write(`ctl, ${runId}: ${run.times()}\n`);
    return { set, pause, requeue, cancel, resume, drain, drained, done, items, billed: billedOf(batch) };
  } finally {
    await run.close();
    await batch.close();
  }
}

const billedOf = ({ copy }: UpgradeBatch): bigint => sumOf(ledgerRows(copy));

function actsOnBatch(steered: () => Steered): void {
  it('set: more places are filled at once', () => {
    expect(steered().set.row).toMatchObject({ mode: 'normal', inFlight: 3 });
  });

  it('pause: nothing new starts, what is in flight ends, and the process stays', () => {
    const { pause, resume } = steered();
    expect(pause.row).toMatchObject({ phase: 'running', mode: 'paused', reason: 'user' });
    expect(resume.row.waiting).toBeGreaterThan(0);
  });

  it('requeue KEY: one that has succeeded is taken up again, in a conversation of its own', () => {
    const { requeue, items } = steered();
    expect(itemOf(requeue, REQUEUED)).toMatchObject({ phase: 'waiting', attempt: 1 });
    expect(itemOf({ items }, REQUEUED)).toMatchObject({ phase: 'ended', attempt: 2, outcome: 'succeeded' });
  });

  it('cancel KEY: only that one ends, and it has never begun', () => {
    const { items } = steered();
    expect(itemOf({ items }, CANCELLED)).toMatchObject({ outcome: 'cancelled', attempt: 0 });
    expect(items.filter(({ outcome }) => outcome === 'succeeded')).toHaveLength(ITEMS - 1);
  });

  it('drain: the process ends with what is in flight, and says how to go on', () => {
    const { drained } = steered();
    expect(drained.code).toBe(3);
    expect(drained.stdout).toMatch(/parley resume steered-/);
  });

  it('is reconciled with the bill after all of it', () => {
    const { done, billed } = steered();
    // One was cancelled, and the job tolerates none.
    expect(done.code, done.stderr).toBe(1);
    expect(recordsIn(done.stdout).at(-1)).toMatchObject({
      type: 'done',
      phase: 'finished',
      ended: { succeeded: ITEMS - 1, cancelled: 1 },
      spent_nano_usd: Number(billed),
      reconciliation: { total_nano_usd: Number(billed), assigned_nano_usd: Number(billed) },
    });
  });
}

describe('a batch on the embedded engine, steered', () => {
  let steered: Steered;
  beforeAll(async () => {
    steered = await steer('steered-embedded', { env: {} });
  }, ALL_MS_MAX);
  actsOnBatch(() => steered);
});

describeWith('temporal', 'a batch on Temporal, steered', () => {
  let server: DevServer;
  let steered: Steered;
  let kept: Step;
  beforeAll(async () => {
    server = await startServerForTests();
    steered = await steer('steered-temporal', {
      env: { PARLEY_ENGINE: 'temporal', TEMPORAL_ADDRESS: server.address },
      setEnv: elsewhere,
      ownerless: async (run) => {
        kept = await run.ctl(['set', 'concurrency=2'], () => true);
      },
    });
  }, ALL_MS_MAX);
  afterAll(() => server.stop());

  /** Sockets are in the folder for temporary files: from another one, the owner cannot be found. */
  function elsewhere({ copy }: UpgradeBatch): Readonly<Record<string, string>> {
    const temp = path.join(copy.root, 'other');
    mkdirSync(temp);
    return { TMPDIR: temp };
  }

  actsOnBatch(() => steered);

  it('takes it without the socket of the owner: the server brings it to the worker', () => {
    expect(steered.set.end).toMatchObject({ code: 0, stderr: '' });
  });

  it('keeps it on the server while there is no worker, and the next one takes it', () => {
    expect(kept.end.stderr).toContain('no worker asks for work');
  });
});
