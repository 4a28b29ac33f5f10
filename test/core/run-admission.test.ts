/** What limits how a run begins its items: stages, keyed limits, rate, ramp, adaptive places, canary, budget. */
import { describe, expect, it } from 'vitest';
import type { RunItemSpec } from '../../core/run/state.ts';
import { unsuccessfulOf } from '../../core/machine/projection.ts';
import { hasEndedForGood, itemsByPhase } from '../../core/run/items-by-phase.ts';
import * as at from './run-life.ts';

const phases = (life: at.RunLife): string =>
  life.its.items.map(({ phase, ending }) => (phase === 'ended' ? ending?.outcome : phase)).join(' ');
const heldBy = (life: at.RunLife): string | null => life.its.pace?.heldBy ?? null;
const ends = (life: at.RunLife, index: number, status: 'FINISHED' | 'ERROR' = 'FINISHED'): at.RunLife =>
  life.works(index).rests(status, index).collected(1, index);
const needs = (outcome: 'succeeded' | 'failed' | 'ended'): Partial<RunItemSpec> => ({
  needs: [{ group: 0, outcome, entry: 'plan' }],
});
const stage: Partial<RunItemSpec> = { groups: [0] };

describe('stages', () => {
  it('begin when everything they need has succeeded, and not before', () => {
    const life = new at.RunLife({ concurrency: 9 }, [stage, stage, needs('succeeded')]);
    expect(phases(life)).toBe('starting starting waiting');
    expect(heldBy(life)).toBe('needs');
    expect(phases(ends(life, 0))).toBe('succeeded starting waiting');
    expect(phases(ends(life, 1))).toBe('succeeded succeeded starting');
  });

  it('are skipped when what they need failed for good, and so is what needs them', () => {
    const second = { ...needs('succeeded'), groups: [1] };
    const third: Partial<RunItemSpec> = { needs: [{ group: 1, outcome: 'succeeded', entry: 'implement' }] };
    const life = new at.RunLife({ concurrency: 9 }, [stage, second, third]);
    expect(phases(ends(life, 0, 'ERROR'))).toBe('failed skipped skipped');
    expect(life.item(1).ending).toEqual({
      outcome: 'skipped',
      failureClass: null,
      detail: 'it needs "plan", which did not succeed',
    });
  });

  it('begin however the others ended when that is enough', () => {
    const life = new at.RunLife({ concurrency: 9 }, [stage, needs('ended')]);
    expect(phases(ends(life, 0, 'ERROR'))).toBe('failed starting');
  });

  it('that are for a failure begin when there is one, and else are not needed, which is no failure', () => {
    const after: Partial<RunItemSpec> = { needs: [{ group: 1, outcome: 'succeeded', entry: 'fix' }] };
    const items = [stage, stage, { ...needs('failed'), groups: [1] }, after];
    const failed = ends(new at.RunLife({ concurrency: 9 }, items), 0, 'ERROR');
    expect(phases(failed)).toBe('failed starting waiting waiting');
    expect(phases(ends(failed, 1))).toBe('failed succeeded starting waiting');
    const good = ends(ends(new at.RunLife({ concurrency: 9 }, items), 0), 1);
    expect(phases(good)).toBe('succeeded succeeded not_needed starting');
    expect(good.item(2)).toMatchObject({
      attempt: 0,
      ending: { failureClass: null, detail: 'it is for a failure of "plan", which succeeded' },
    });
    expect(unsuccessfulOf({ total: 4, ended: itemsByPhase(ends(good, 3).its).ended })).toBe(0);
    expect(hasEndedForGood({ ...good.its, phase: 'finished' })).toBe(true);
  });

  it('that were not needed are looked at again with what they are for', () => {
    const life = new at.RunLife({ concurrency: 9 }, [stage, needs('failed'), {}]);
    ends(life, 0);
    expect(phases(life)).toBe('succeeded not_needed starting');
    life.send({ type: 'requeueRequested', requestId: 'again', keys: ['k0'], by: 'ann' });
    expect(phases(life)).toBe('starting waiting starting');
    expect(phases(ends(life, 0, 'ERROR'))).toBe('failed starting starting');
  });

  it('wait for another try, and are looked at again when a failure is taken up later', () => {
    const life = new at.RunLife({ concurrency: 9 }, [stage, needs('succeeded')]);
    expect(phases(ends(life, 0, 'ERROR'))).toBe('failed skipped');
    life.resume('agent_error');
    expect(phases(life)).toBe('starting waiting');
    expect(phases(ends(life, 0))).toBe('succeeded starting');
  });
});

describe('keyed limits', () => {
  const repo = (value: string): Partial<RunItemSpec> => ({ slots: [{ slot: 'repo', value }] });

  it('let so many of one value begin, and let others pass by', () => {
    const life = new at.RunLife({ concurrency: 9, slots: { repo: 1 } }, [
      repo('a'),
      repo('a'),
      repo('b'),
      {},
    ]);
    expect(phases(life)).toBe('starting waiting starting starting');
    expect(heldBy(life)).toBe('per repo');
    expect(phases(ends(life, 0))).toBe('succeeded starting starting starting');
  });
});

describe('the rate', () => {
  it('spreads starts evenly, and arms a timer for each', () => {
    const life = new at.RunLife({ concurrency: 9, startEveryMs: 2_000 }, [{}, {}, {}]);
    expect(phases(life)).toBe('starting waiting waiting');
    const { now } = life;
    expect(phases(life.timer())).toBe('starting starting waiting');
    expect(life.now - now).toBe(2_000);
    expect(heldBy(life)).toBe('rate');
    expect(phases(life.timer())).toBe('starting starting starting');
    expect(heldBy(life)).toBeNull();
  });

  it('can be lifted while the run goes on, which is recorded with who did it', () => {
    const life = new at.RunLife({ concurrency: 9, startEveryMs: 60_000 }, [{}, {}]);
    life.send({ type: 'settingsChanged', requestId: 's', by: 'ann', settings: { startEveryMs: null } });
    expect(phases(life)).toBe('starting starting');
    expect(life.orders.find(({ type }) => type === 'record')).toMatchObject({
      event: {
        code: 'run_amended',
        about: { machine: 'run' },
        detail: 'rate one start in 60000 ms -> none, by ann',
      },
    });
  });
});

describe('the ramp', () => {
  it('gives one place at once and the last one at its end', () => {
    const life = new at.RunLife({ concurrency: 5, rampMs: 40_000 }, [{}, {}, {}, {}, {}, {}]);
    const { now } = life;
    const begun: number[] = [];
    for (let count = 2; count <= 5; count += 1) {
      expect(heldBy(life)).toBe('ramp');
      life.timer();
      begun.push(life.now - now);
    }
    expect(begun).toEqual([10_000, 20_000, 30_000, 40_000]);
    expect(phases(life)).toBe('starting starting starting starting starting waiting');
    expect(heldBy(life)).toBe('concurrency');
  });
});

describe('adaptive places', () => {
  const adaptive = { on: ['rate_limited'], min: 1 } as const;
  const limited = { pauseReason: 'rate_limit', sandboxStatus: 'PAUSED', executionStatus: 'PAUSED' } as const;

  it('are halved when the endpoint says to slow down, once for failures that come together', () => {
    const life = new at.RunLife({ concurrency: 4, adaptive }, [{}, {}, {}, {}, {}, {}]);
    for (const index of [0, 1, 2, 3]) life.works(index);
    life.notice(limited, 0).notice(limited, 1);
    expect(life.its.pace?.places).toBe(2);
    expect(phases(life.rests('FINISHED', 2).collected(1, 2))).toContain('waiting waiting');
    expect(heldBy(life)).toBe('adaptive');
    life.now += 31_000;
    life.notice(limited, 3);
    expect(life.its.pace?.places).toBe(1);
  });

  it('come back one by one, a round of calm for each', () => {
    const life = new at.RunLife(
      { concurrency: 3, adaptive },
      Array.from({ length: 9 }, () => ({})),
    );
    life.works(0).notice(limited, 0);
    expect(life.its.pace?.places).toBe(1);
    const places: (number | null | undefined)[] = [];
    for (const index of [0, 1, 2, 3, 4]) {
      if (index > 0) life.works(index);
      life.rests('FINISHED', index).collected(1, index);
      places.push(life.its.pace?.places);
    }
    expect(places).toEqual([2, 2, null, null, null]);
  });
});

describe('a canary', () => {
  const two = { concurrency: 9, canary: 2 };

  it('lets the others begin when all of it succeeded', () => {
    const life = new at.RunLife(two, [{}, {}, {}, {}]);
    expect(phases(life)).toBe('starting starting waiting waiting');
    expect(heldBy(life)).toBe('canary');
    expect(phases(ends(life, 1))).toBe('starting succeeded waiting waiting');
    expect(phases(ends(life, 0))).toBe('succeeded succeeded starting starting');
  });

  it('holds the run when one failed, until somebody resumes it', () => {
    const life = new at.RunLife(two, [{}, {}, {}]);
    ends(ends(life, 0), 1, 'ERROR');
    expect(life.its).toMatchObject({ mode: 'paused', reason: 'canary' });
    expect(phases(life.resume())).toBe('succeeded failed starting');
  });

  it('may try again: the verdict is on how its items end', () => {
    const retry = [{ on: ['agent_error'], attempts: 1, initialMs: 1_000, factor: 1, maxMs: 1_000 }] as const;
    const life = new at.RunLife({ ...two, canary: 1, retry }, [{ priority: -1 }, { priority: -2 }]);
    ends(life, 0, 'ERROR');
    expect(phases(life)).toBe('waiting waiting');
    expect(phases(ends(life.timer(), 0))).toBe('succeeded starting');
  });
});

describe('a budget', () => {
  const budget = { nanoUsd: 10, reserveNanoUsd: 5, mode: 'enforce' } as const;

  it('goes on when somebody raises it, and what was spent stays', () => {
    const life = new at.RunLife({ budget, concurrency: 1 }, [{}, {}, {}]);
    ends(life, 0).works(1).rests('FINISHED', 1).collected(6, 1);
    expect(life.its).toMatchObject({ mode: 'paused', reason: 'budget', spentNanoUsd: 7 });
    life.send({ type: 'settingsChanged', requestId: 's', settings: { budgetNanoUsd: 20 } }).resume();
    expect(phases(life)).toBe('succeeded succeeded starting');
  });

  it.each([
    ['drain', 'draining', 'succeeded waiting'],
    ['cancel', 'cancelling', 'succeeded cancelled'],
  ] as const)('that is exceeded can %s the run', (onExceeded, mode, expected) => {
    const life = new at.RunLife({ budget: { ...budget, onExceeded }, concurrency: 1 }, [{}, {}]);
    life.works(0).rests('FINISHED', 0).collected(9, 0);
    expect(life.its.mode).toBe(mode);
    expect(phases(life)).toBe(expected);
  });

  it('says once that its soft limit was passed', () => {
    const life = new at.RunLife({ budget: { ...budget, nanoUsd: 90, softNanoUsd: 1 }, concurrency: 1 }, [
      {},
      {},
    ]);
    const said = (): readonly string[] =>
      life.orders.flatMap((order) => (order.type === 'record' ? [order.event.code] : []));
    ends(life, 0);
    expect(said()).toEqual(['budget_soft']);
    ends(life, 1);
    expect(said()).toEqual([]);
  });
});
