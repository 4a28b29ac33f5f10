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
    expect(life.its).toMatchObject({ phase: 'finished', standing: { ended: { succeeded: 1 } } });
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
});
