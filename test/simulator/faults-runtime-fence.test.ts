/** The fence of the model's runtime (D14), what stands beside the incarnations, and when a watch polls. */
import { describe, expect, it } from 'vitest';
import { activitiesOf } from '../../activities/registry.ts';
import type { World as ProductWorld } from '../../activities/world.ts';
import type { ModelPort } from '../../simulator/model-port.ts';
import { sandboxIdNamed } from '../../simulator/models/derived-id.ts';
import { ACTIVITY_COMMAND_TYPES, retryOf } from '../../core/machine/resource.ts';
import { waitBeforeRetry } from '../../core/machine/retry.ts';
import { RuntimeModel } from '../../simulator/models/runtime-model.ts';
import { act, START_AT } from '../../simulator/script.ts';
import { BUSY, D, H, M, S, start } from '../conformance/script-parts.ts';
import { play, timesOf } from './faults-parts.ts';

const BOX = sandboxIdNamed('fenced');

/** A clock that is moved by hand. */
class ManualPort implements ModelPort {
  private instant = 1;
  private due: { readonly at: number; readonly run: () => void }[] = [];

  now(): number {
    return this.instant;
  }

  later(_: string | null, at: number, run: () => void): void {
    this.due.push({ at, run });
  }

  moveTo(end: number): void {
    for (;;) {
      const next = this.due.filter(({ at }) => at <= end).sort((one, other) => one.at - other.at)[0];
      if (next === undefined) break;
      this.due = this.due.filter((one) => one !== next);
      this.instant = next.at;
      next.run();
    }
    this.instant = end;
  }

  answer(): void {
    throw new Error('Cannot answer: nobody asked');
  }

  deliver(): void {
    throw new Error('Cannot deliver: nobody is told anything');
  }
}

function runtime(): { readonly port: ManualPort; readonly model: RuntimeModel } {
  const port = new ManualPort();
  return { port, model: new RuntimeModel(port, () => undefined) };
}

describe('a start', () => {
  it('is the same however often it is asked for', () => {
    const { model } = runtime();
    expect([model.up(BOX, 1), model.up(BOX, 1)]).toEqual(['up', 'again']);
    expect([...(model.live.get(BOX) ?? [])]).toEqual([1]);
  });

  it('of an older generation than seen is refused', () => {
    const { model } = runtime();
    model.up(BOX, 2);
    expect(model.up(BOX, 1)).toBe('stale');
    expect([...(model.live.get(BOX) ?? [])]).toEqual([2]);
  });

  it('of a newer generation stops the older one first', () => {
    const { model } = runtime();
    model.up(BOX, 1);
    model.up(BOX, 2);
    expect([...(model.live.get(BOX) ?? [])]).toEqual([2]);
  });

  it('of a generation that was stopped is refused, also when it never came up before', () => {
    const { model } = runtime();
    model.up(BOX, 1);
    expect(model.down(BOX, 1)).toBe(true);
    expect(model.up(BOX, 1)).toBe('stale');
    model.down(BOX, 2);
    expect(model.up(BOX, 2)).toBe('stale');
    expect(model.live.has(BOX)).toBe(false);
  });

  it('after a destroy is refused, whatever its generation', () => {
    const { model } = runtime();
    model.up(BOX, 1);
    model.destroy(BOX);
    expect(model.up(BOX, 9)).toBe('stale');
    expect(model.archive(BOX)).toBe(false);
  });

  it('finds nothing to start when somebody removed the storage', () => {
    const { model } = runtime();
    model.up(BOX, 1);
    model.vanish(BOX);
    expect([model.up(BOX, 2), model.archive(BOX)]).toEqual(['gone', false]);
  });
});

describe('a stop', () => {
  it('of an older generation than started does nothing', () => {
    const { model } = runtime();
    model.up(BOX, 2);
    expect(model.down(BOX, 1)).toBe(false);
    expect(model.isUp(BOX, 2)).toBe(true);
  });
});

describe('an object of nobody', () => {
  it('goes once two sweeps in a row saw it', () => {
    const { port, model } = runtime();
    model.leave(BOX);
    port.moveTo(M + S);
    expect([...model.foreign.ids()]).toEqual([BOX]);
    port.moveTo(2 * M + S);
    expect([...model.foreign.ids()]).toEqual([]);
  });

  it('is seen anew after a list that left it out', () => {
    const { port, model } = runtime();
    model.foreign.listing = (_, sweep) => (sweep === 2 ? 0 : 1);
    model.leave(BOX);
    port.moveTo(3 * M + S);
    expect([...model.foreign.ids()]).toEqual([BOX]);
    port.moveTo(4 * M + S);
    expect([...model.foreign.ids()]).toEqual([]);
  });

  it('is taken over by the next start, and goes with the storage', () => {
    const { model } = runtime();
    model.leave(BOX);
    model.up(BOX, 1);
    expect([...model.foreign.ids()]).toEqual([]);
    model.down(BOX, 1);
    model.leave(BOX);
    model.destroy(BOX);
    expect([...model.foreign.ids()]).toEqual([]);
    model.leave(BOX);
    expect([...model.foreign.ids()]).toEqual([]);
  });
});

describe('retry classes', () => {
  it('are those of the product', () => {
    // Only what stands beside `run` is read; nothing of the world is touched for it.
    const activities = activitiesOf({} as ProductWorld);
    for (const type of ACTIVITY_COMMAND_TYPES) expect(activities[type].retry).toEqual(retryOf(type));
  });

  it('wait longer after each try up to their bound, and end', () => {
    expect([0, 1, 2, 5, 6].map((tried) => waitBeforeRetry(retryOf('stopSandbox'), tried))).toEqual([
      500, 1_000, 2_000, 15_000, 15_000,
    ]);
    expect(waitBeforeRetry(retryOf('stopSandbox'), 7)).toBeNull();
    expect(waitBeforeRetry(retryOf('archiveWorkspace'), 0)).toBeNull();
    expect(waitBeforeRetry(retryOf('createSandbox'), 1_000)).toBe(15_000);
  });
});

describe('an idle watch', () => {
  it('does not look at an agent at work', () => {
    const { stage } = play({ steps: [], models: BUSY, safetyMs: 0 });
    stage.simulation.script(START_AT + D, () => act(stage, start('a'), 0));
    stage.advanceTo(START_AT + D + H);
    const { played } = stage.simulation;
    expect(stage.world.live.size).toBe(1);
    // Ten more hours of work cost no poll at all.
    stage.advanceTo(START_AT + D + 11 * H);
    expect(stage.simulation.played).toBe(played);
  });

  it('looks again when work ends before its time', () => {
    const interruptedAtMs = 2 * H;
    const steps = [
      [0, start('a')],
      [interruptedAtMs, { do: 'interrupt', name: 'a' }],
    ] as const;
    const played = play({ steps, models: BUSY, safetyMs: D });
    expect(timesOf(played, 'idleReached')).toEqual([interruptedAtMs + 200 + 20 * M]);
  });
});
