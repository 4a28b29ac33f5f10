/** The last steps of a run: one after the other, each with its time, none of them changes how the run ended. */
import { describe, expect, it } from 'vitest';
import type { RunEvent } from '../../core/run/message.ts';
import * as at from './run-life.ts';

const answer = (life: at.RunLife, event: object): at.RunLife =>
  life.send({ commandId: life.its.awaiting ?? 'none', ...event } as RunEvent);
const sent = (life: at.RunLife, isSent = true): at.RunLife => answer(life, { type: 'runNotified', isSent });
const failed = (life: at.RunLife): at.RunLife => answer(life, { type: 'notifyFailed', reason: 'r' });
const ordered = (life: at.RunLife) =>
  life.orders.flatMap((order) => (order.type === 'notifyOfRun' ? [order.step] : []));
const said = (life: at.RunLife) =>
  life.orders.flatMap((order) =>
    order.type === 'record' ? [`${order.event.code} ${order.event.detail}`] : [],
  );

describe('the last steps of a run', () => {
  it('are taken one after the other, and the run has ended after the last', () => {
    const life = at.closing(2);
    expect(life.its).toMatchObject({ phase: 'closing', endedAt: null });
    expect(ordered(life)).toEqual([0]);
    sent(life);
    expect(said(life)).toEqual(['finally_done notify 1: sent']);
    expect(ordered(life)).toEqual([1]);
    sent(life, false);
    expect(said(life)).toEqual(['finally_done notify 2: not wanted of a run that ended so']);
    expect(life.its).toMatchObject({ phase: 'finished', awaiting: null, endedAt: life.now });
  });

  it('change nothing of the outcome when they fail, and are followed by the next', () => {
    const life = failed(at.closing(2));
    expect(said(life)).toEqual(['finally_failed notify 1: r']);
    expect(life.its.phase).toBe('closing');
    failed(life);
    expect(life.its).toMatchObject({ phase: 'finished', byPhase: { ended: { succeeded: 1 } } });
  });

  it('have a time each: what was not answered in it is taken back, and the next begins', () => {
    const life = at.closing(2);
    const { awaiting } = life.its;
    life.timer();
    expect(life.orders.find(({ type }) => type === 'cancelCommand')).toMatchObject({ commandId: awaiting });
    expect(said(life)).toEqual(['finally_failed notify 1: nobody took it within its time']);
    expect(ordered(life)).toEqual([1]);
    // The answer that was on its way is none any more.
    const { state } = life;
    life.send({ type: 'runNotified', commandId: awaiting ?? 'none', isSent: true });
    expect(life.state).toBe(state);
    expect(life.timer().its.phase).toBe('finished');
  });

  it('begin anew when the run is taken up meanwhile and ends once more', () => {
    const life = at
      .working({ settleMs: null, finally: [{ timeoutMs: 60_000 }] })
      .rests('ERROR')
      .collected()
      .gone();
    life.send({ type: 'runReported', commandId: life.its.awaiting ?? 'none' });
    const { awaiting } = life.its;
    life.resume('agent_error');
    expect(life.its).toMatchObject({ phase: 'running', closing: undefined });
    expect(life.orders.find(({ type }) => type === 'cancelCommand')).toMatchObject({ commandId: awaiting });
  });

  it('are told of a run that was cancelled, too', () => {
    const life = at.begun({ settleMs: null, finally: [{ timeoutMs: 60_000 }] });
    life.ask('cancelRequested').answer('startRefused', { reason: 'r' });
    life.send({ type: 'runReported', commandId: life.its.awaiting ?? 'none' });
    expect(life.its).toMatchObject({ phase: 'closing', mode: 'cancelling' });
    expect(ordered(life)).toEqual([0]);
  });

  it.each([
    ['failed', { mayOpenAgain: true }],
    ['succeeded', {}],
  ] as const)('tell its shards, whose only item has %s, whether they may be wanted again', (outcome, how) => {
    const rest = (shardsRest: boolean) => {
      const rules = { shardItems: 1, settleMs: null, ...(shardsRest ? { shardsRest } : {}) };
      const life = new at.RunLife(rules).send({ type: 'shardReady', number: 0, items: 1 });
      const ending = { outcome, failureClass: outcome === 'failed' ? 'infra' : null, detail: null } as const;
      const attempt = { index: 0, attempt: 1, phase: 'ended', ending, notBefore: null } as const;
      const left = { costNanoUsd: 0, conversationId: null, sandboxId: null, sandboxStatus: null } as const;
      life.send({ type: 'attemptEnded', ...attempt, ...left, isUncollected: false });
      answer(life, { type: 'runReported' });
      expect(life.its.phase).toBe('finished');
      return life.orders.flatMap((order) => (order.type === 'send' ? [order.event] : []));
    };
    expect(rest(true)).toEqual([{ type: 'shardClosed', ...how }]);
    // A run of an older build gives no order more than it did: its ids would be others.
    expect(rest(false)).toEqual(outcome === 'failed' ? [] : [{ type: 'shardClosed' }]);
  });
});
