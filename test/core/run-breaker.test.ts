/** A breaker that closes by itself: open, half open with probes, closed again, or opened anew. */
import { describe, expect, it } from 'vitest';
import * as at from './run-life.ts';

const breaker = {
  on: ['agent_error'],
  windowMs: 3_600_000,
  count: 2,
  recover: { afterMs: 60_000, probes: 2 },
} as const;
const many = (count: number) => Array.from({ length: count }, () => ({}));
const ends = (life: at.RunLife, index: number, status: 'FINISHED' | 'ERROR' = 'FINISHED'): at.RunLife =>
  life.works(index).rests(status, index).collected(1, index);
const begun = (life: at.RunLife): number => life.its.items.filter(({ attempt }) => attempt > 0).length;
const said = (life: at.RunLife) =>
  life.orders.flatMap((order) =>
    order.type === 'record' ? [`${order.event.code} ${order.event.detail}`] : [],
  );
/** Two of three have failed. */
const open = () => ends(ends(new at.RunLife({ concurrency: 3, breaker }, many(9)), 0, 'ERROR'), 1, 'ERROR');

describe('a breaker that closes by itself', () => {
  it('lets nothing begin until it has cooled down, and goes on being the run that it is', () => {
    const life = open();
    const opened = life.now;
    expect(begun(life)).toBe(4);
    expect(life.its).toMatchObject({ mode: 'normal', reason: null, pace: { heldBy: 'breaker' } });
    expect(said(life)).toEqual(['breaker_opened agent_error: nothing begins for 60 s']);
    ends(life, 2);
    expect(begun(life)).toBe(4);
    life.timer();
    expect(life.now - opened).toBe(60_000);
  });

  it('then lets so many probes begin, and everybody when they went well', () => {
    const life = ends(ends(open(), 2), 3);
    expect(begun(life)).toBe(4);
    life.timer();
    expect(begun(life)).toBe(6);
    expect(life.its.pace?.heldBy).toBe('breaker');
    ends(life, 4);
    expect(begun(life)).toBe(6);
    ends(life, 5);
    expect(said(life)).toEqual(['breaker_closed 2 went well']);
    expect(life.its).toMatchObject({ trip: undefined, breakerHits: [] });
    expect(begun(life)).toBe(9);
  });

  it('opens again when a probe fails, for as long', () => {
    const life = ends(ends(open(), 2), 3).timer();
    ends(life, 4, 'ERROR');
    expect(said(life)).toEqual(['breaker_opened agent_error: nothing begins for 60 s']);
    expect(begun(ends(life, 5))).toBe(6);
    expect(begun(life.timer())).toBe(8);
  });

  it('does not count what began before: neither as failure nor as success', () => {
    const life = open().timer();
    expect(begun(life)).toBe(5);
    ends(life, 2, 'ERROR');
    expect(life.its.trip).toMatchObject({ passed: 0 });
    ends(life, 3);
    expect(life.its.trip).toMatchObject({ passed: 0 });
  });

  it('takes another class of failure, and a limit, for an answer, and a cancellation for none', () => {
    const life = ends(ends(open(), 2), 3).timer();
    life.send({ type: 'cancelRequested', requestId: 'c', keys: ['k4'] });
    life.works(4).rests('IDLE', 4).collected(1, 4);
    expect(life.its.trip).toMatchObject({ passed: 0 });
    expect(begun(life)).toBe(7);
    life.works(5).rests('STUCK', 5).collected(1, 5);
    expect(life.its.trip).toMatchObject({ passed: 1 });
  });

  it('is closed by whoever resumes the run', () => {
    const life = open();
    life.resume();
    expect(life.its.trip).toBeUndefined();
    expect(begun(life)).toBe(5);
  });

  it('holds the run where nothing is said of recovering', () => {
    const { recover: _recover, ...plain } = breaker;
    const life = new at.RunLife({ concurrency: 2, breaker: plain }, many(4));
    ends(ends(life, 0, 'ERROR'), 1, 'ERROR');
    expect(life.its).toMatchObject({ mode: 'paused', reason: 'breaker:agent_error', trip: undefined });
  });
});
