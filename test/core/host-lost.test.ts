/** A host that was given up: its sandboxes are MISSING, and what a run had there begins again without a try (D33). */
import { describe, expect, it } from 'vitest';
import { HOST_LOSSES_MAX } from '../../core/limits.ts';
import { HOST_LOST } from '../../core/machine/projection.ts';
import * as run from './run-life.ts';
import * as sandbox from './sandbox-life.ts';

const LOST = { sandboxStatus: 'MISSING', detail: HOST_LOST, settled: true } as const;
const lose = (life: sandbox.SandboxLife) => life.send({ type: 'hostLost' });
/** Ends the attempt that is in flight. */
const loseHost = (life: run.RunLife) => life.works().notice(LOST).collected();

describe('a sandbox whose host was given up', () => {
  it.each([
    ['starting', sandbox.starting],
    ['running', sandbox.running],
    ['pausing', sandbox.pausing],
    ['released', sandbox.released],
    ['reserving', sandbox.reserving],
    ['resuming', sandbox.resuming],
    ['stopping', sandbox.stopping],
    ['archiving', sandbox.archiving],
    ['destroying', sandbox.destroying],
    ['errorStopping', sandbox.errorStopping],
    ['error', sandbox.inError],
  ])('is MISSING from %s, and waits for no answer from there', (_phase, at) => {
    const before = at();
    const { awaiting, watch } = before.its;
    const life = lose(before);
    expect(life.its).toMatchObject({ phase: 'missing', status: 'MISSING', detail: 'host_lost' });
    expect(life.its).toMatchObject({ awaiting: null, watch: null, waiters: [] });
    const cancelled = life.orders.flatMap((order) =>
      order.type === 'cancelCommand' ? [order.commandId] : [],
    );
    for (const commandId of [awaiting, watch]) if (commandId !== null) expect(cancelled).toContain(commandId);
    const rows = life.orders.flatMap((order) => (order.type === 'project' ? order.rows : []));
    expect(rows.at(-1)).toMatchObject({ status: 'MISSING', holdsSlot: false });
  });

  it('tells who is in it, and refuses who waits for its resume', () => {
    const life = lose(sandbox.resuming());
    const told = life.orders.flatMap((order) => (order.type === 'send' ? [order.event] : []));
    expect(told).toContainEqual(
      expect.objectContaining({ type: 'resumeAnswered', refusal: 'sandbox_missing' }),
    );
    expect(told).toContainEqual({
      type: 'sandboxNoticed',
      sandbox: expect.objectContaining({ status: 'MISSING', detail: 'host_lost' }) as object,
    });
  });

  it('changes no more when it is told again', () => {
    const life = lose(sandbox.running());
    const { state } = life;
    expect(lose(life).state).toBe(state);
  });
});

describe('a sandbox on a host that is emptied', () => {
  const empty = (life: sandbox.SandboxLife) =>
    life.send({ type: 'deleteRequested', requestId: 'drained', onlyReleased: true });

  it('is archived and removed where it was released, as its Deletion Time does it', () => {
    const life = empty(sandbox.released());
    expect(life.its).toMatchObject({ phase: 'archiving', deletedByUser: false });
  });

  it.each([
    ['starting', sandbox.starting],
    ['running', sandbox.running],
    ['pausing', sandbox.pausing],
    ['reserving', sandbox.reserving],
    ['resuming', sandbox.resuming],
    ['stopping', sandbox.stopping],
    ['archivingByTimer', sandbox.archivingByTimer],
    ['destroying', sandbox.destroying],
    ['errorStopping', sandbox.errorStopping],
    ['error', sandbox.inError],
    ['missing', sandbox.missing],
  ])('goes on as if nothing had been asked from %s', (_phase, at) => {
    const before = at();
    const { its } = before;
    expect(empty(before).its).toEqual(its);
  });
});

describe('an item on a host that was given up', () => {
  it('begins again at once as infra, without a rule that gives it a try', () => {
    const life = loseHost(run.begun());
    expect(life.item()).toMatchObject({
      phase: 'starting',
      attempt: 2,
      failures: {},
      hostsLost: 1,
    });
    life.works().rests('FINISHED').collected();
    expect(life.item()).toMatchObject({ phase: 'ended', ending: { outcome: 'succeeded' } });
  });

  it('has all the tries of its rule left', () => {
    const retry = [{ on: ['infra'], attempts: 1, initialMs: 0, factor: 1, maxMs: 0 }] as const;
    const life = loseHost(run.begun({ retry }));
    life.works().notice({ sandboxStatus: 'ERROR', settled: true }).collected();
    expect(life.item()).toMatchObject({ phase: 'starting', attempt: 3, failures: { infra: 1 } });
  });

  it('does so while it starts, and while its work is verified or collected', () => {
    const startTask = 'ERROR';
    const starting = run.begun().started();
    starting.notice({ ...LOST, startTask, detail: 'sandbox_missing: host_lost' });
    expect(starting.item()).toMatchObject({ phase: 'starting', attempt: 2, failures: {} });

    for (const life of [
      new run.RunLife({}, [{ hasVerify: true }]).works().rests('FINISHED'),
      run.collecting(),
    ]) {
      const { awaiting } = life.item();
      life.notice(LOST);
      expect(life.orders).toContainEqual(
        expect.objectContaining({ type: 'cancelCommand', commandId: awaiting }),
      );
      expect(life.item()).toMatchObject({ phase: 'collecting' });
      expect(life.orders.findLast(({ type }) => type === 'collectItem')).toMatchObject({
        workspaceReadable: false,
      });
      // Told again of the same loss, it goes on with what it has begun.
      const { awaiting: collecting } = life.item();
      expect(life.notice(LOST).item().awaiting).toBe(collecting);
      expect(life.collected().item()).toMatchObject({ phase: 'starting', attempt: 2, failures: {} });
    }
  });

  it('does so where the answer overtakes the notice of the loss', () => {
    const lost = { status: 'MISSING', detail: HOST_LOST };
    const good = run.collecting().answer('itemCollected', { costNanoUsd: 5, lost });
    expect(good.item()).toMatchObject({ phase: 'starting', attempt: 2, failures: {}, costNanoUsd: 5 });

    const unverified = new run.RunLife({}, [{ hasVerify: true }]).works().rests('FINISHED');
    unverified.answer('verifyFailed', { reason: 'the sandbox is MISSING', lost });
    expect(unverified.item().ending).toMatchObject({ failureClass: 'infra', isHostLost: true });
    expect(unverified.collected().item()).toMatchObject({ phase: 'starting', attempt: 2, failures: {} });
  });

  it('is a failure as any other where its sandbox alone was lost with what was good', () => {
    const life = run.collecting().answer('itemCollected', {
      costNanoUsd: 5,
      withheld: 'withheld for a secret: "a"',
      lost: { status: 'MISSING', detail: 'runtime_gone' },
    });
    expect(life.item()).toMatchObject({
      phase: 'ended',
      failures: { infra: 1 },
      ending: {
        outcome: 'failed',
        failureClass: 'infra',
        detail: 'the sandbox is MISSING: runtime_gone; withheld for a secret: "a"',
      },
    });
  });

  it('keeps an ending that is none of its host', () => {
    const life = run.working().notice({ limitReached: 'turns', settled: true, executionStatus: 'PAUSED' });
    expect(life.notice(LOST).collected().item()).toMatchObject({
      phase: 'ended',
      ending: { outcome: 'limit_reached' },
    });
    const limited = run
      .working()
      .notice({ limitReached: 'turns', settled: true, executionStatus: 'PAUSED' })
      .answer('itemCollected', { costNanoUsd: 5, lost: { status: 'MISSING', detail: HOST_LOST } });
    expect(limited.item()).toMatchObject({ phase: 'ended', ending: { outcome: 'limit_reached' } });
  });

  it('takes tries as any other once it has ended so many hosts', () => {
    const life = run.begun();
    for (let lost = 0; lost < HOST_LOSSES_MAX; lost += 1) loseHost(life);
    expect(life.item()).toMatchObject({ phase: 'starting', hostsLost: HOST_LOSSES_MAX, failures: {} });
    expect(loseHost(life).item()).toMatchObject({
      phase: 'ended',
      failures: { infra: 1 },
      ending: { outcome: 'failed', failureClass: 'infra', detail: 'the sandbox is MISSING: host_lost' },
    });
  });

  it('trips no breaker and slows nothing down', () => {
    const breaker = { on: ['infra'], windowMs: 3_600_000, count: 1 } as const;
    const life = loseHost(run.begun({ breaker }));
    expect(life.its).toMatchObject({ mode: 'normal', breakerHits: [] });
    // As the same failure does that is no host's.
    life.works().notice({ sandboxStatus: 'ERROR', settled: true }).collected();
    expect(life.its).toMatchObject({ mode: 'paused', reason: 'breaker:infra' });
  });

  it('does not begin again in a run that is cancelled', () => {
    const life = run.working().notice(LOST).ask('cancelRequested');
    expect(life.collected().item().phase).toBe('ended');
  });
});
