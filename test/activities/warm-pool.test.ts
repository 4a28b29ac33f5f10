/** The warm pool around a real store: rounds of its keeper, claims that read first, races of both against a model. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bootWarm, keepWarm, type WarmMemory } from '../../activities/keep-warm-sandboxes.ts';
import { sweepSandboxes } from '../../activities/sweep-sandboxes.ts';
import { conversationId, sandboxId, userId, type SandboxId } from '../../core/ids.ts';
import { ParleyError } from '../../core/parley-error.ts';
import type { Deployment } from '../../ports/deployment.ts';
import { T0 } from '../engine/movable-clock.ts';
import { activityWorld, answerOf, type ActivityWorld } from './activity-world.ts';

const MAX_AGE = 3_600_000;
const WISH = { size: 2, maxAgeMs: MAX_AGE, spec: 'as configured' };
const ROOM = { installationMax: 50, userMax: 50, conversationsPerSandboxMax: 20 };
const MEMORY: WarmMemory = { booting: new Set(), isBackingOff: false, polls: true };

const conversation = (index: number) => conversationId(index.toString(16).padStart(32, '0'));

function pooled(deployment: Partial<Deployment> = {}): Promise<ActivityWorld> {
  return activityWorld({ capacity: ROOM, warmPool: WISH, ...deployment });
}

/** The same place after its configuration was changed. */
function changed(around: ActivityWorld, directive: Partial<typeof WISH>): ActivityWorld {
  const deployment = { ...around.world.deployment, warmPool: { ...WISH, ...directive } };
  return { ...around, world: { ...around.world, deployment } };
}

let ids = 0;
const newId = (): SandboxId => sandboxId((ids += 1).toString(16).padStart(32, 'e'));

/** One round, with its boots carried out at once; what it said. */
async function round({ world }: ActivityWorld, memory: Partial<WarmMemory> = {}) {
  const result = await keepWarm(world, { ...MEMORY, ...memory }, newId);
  const failures = await Promise.all(result.boots.map((id) => bootWarm(world, id)));
  return { ...result, failures };
}

async function readyIds({ world }: ActivityWorld): Promise<readonly SandboxId[]> {
  return (await world.warmPool.held()).filter(({ state }) => state === 'ready').map((one) => one.sandboxId);
}

const place = (index: number, explicit: SandboxId | null = null) =>
  ({
    type: 'placeConversation',
    id: `c#${index}`,
    conversationId: conversation(index),
    userId: userId('ada'),
    strategy: 'NO_GROUPING',
    sandboxId: explicit,
    excluded: [],
  }) as const;

async function placedIn(around: ActivityWorld, index: number): Promise<SandboxId> {
  const answer = await answerOf(around, place(index));
  if (answer?.type !== 'placed') throw new Error(`it was ${answer?.type}`);
  return answer.sandboxId;
}

describe('the keeper of the warm pool', () => {
  it('fills the pool with sandboxes of no user, and then rests', async () => {
    const around = await pooled();
    expect(await round(around)).toMatchObject({ problems: [], failures: [null, null], isAtRest: false });
    const ids = await readyIds(around);
    expect(ids).toHaveLength(2);
    expect(around.runtime.started.map(({ sandboxId: id, generation }) => [id, generation]).sort()).toEqual(
      ids.map((id) => [id, 1]).sort(),
    );
    expect(await round(around)).toMatchObject({ boots: [], done: [], problems: [] });
    expect(await around.world.records.sandboxes()).toEqual([]);
  });

  it('replaces one that died, and keeps one that cannot be asked', async () => {
    const around = await pooled();
    await round(around);
    const [first, second] = (await readyIds(around)) as [SandboxId, SandboxId];
    around.runtime.presences.set(first, { kind: 'crashed', generation: 1, reason: 'killed' });
    around.runtime.presences.set(second, { kind: 'unknown', reason: 'no answer' });
    const { done } = await round(around);
    expect(done).toEqual([`gave up the warm sandbox ${first}: it is not up any more`]);
    const left = await readyIds(around);
    expect(left).toHaveLength(2);
    expect(left).toContain(second);
    expect(around.runtime.log).toEqual(['destroy']);
  });

  it('replaces what is too old or made with something else, without an archive', async () => {
    const around = await pooled();
    await round(around);
    const before = await readyIds(around);
    await around.clock.moveTo(T0 + MAX_AGE);
    await round(around);
    const then = await readyIds(around);
    expect(then.filter((id) => before.includes(id))).toEqual([]);
    await round(changed(around, { spec: 'changed' }));
    expect((await readyIds(around)).filter((id) => then.includes(id))).toEqual([]);
    expect(await around.world.archives.archives(before[0] as SandboxId)).toEqual([]);
  });

  it('removes everything when no pool is wanted any more, and says when it is done', async () => {
    const around = await pooled();
    await round(around);
    const off = changed(around, { size: 0 });
    expect((await round(off)).done).toHaveLength(2);
    expect(await round(off)).toMatchObject({ isAtRest: true, boots: [], done: [] });
    expect(around.runtime.presences.size).toBe(0);
    expect(await around.store.search.slotsTaken(userId('ada'))).toMatchObject({ installation: 0 });
  });

  it('gives up a boot that failed, and boots nothing while it backs off', async () => {
    const around = await pooled({ warmPool: { ...WISH, size: 1 } });
    around.runtime.error = new ParleyError('runtime_failed', 'no memory');
    expect((await round(around)).failures).toEqual(['no memory']);
    around.runtime.error = null;
    expect(await round(around, { isBackingOff: true })).toMatchObject({ boots: [] });
    expect(await around.world.warmPool.held()).toEqual([]);
    expect((await round(around)).failures).toEqual([null]);
  });

  it('goes on with the boots of a process that has ended', async () => {
    const around = await pooled();
    const { boots } = await keepWarm(around.world, MEMORY, newId);
    expect(await readyIds(around)).toEqual([]);
    const next = await round(around);
    expect([...next.boots].sort()).toEqual([...boots].sort());
    expect([...(await readyIds(around))].sort()).toEqual([...boots].sort());
  });

  it('leaves the last slot of the installation to users', async () => {
    const around = await pooled({ capacity: { ...ROOM, installationMax: 1 } });
    await placedIn(around, 1);
    expect(await round(around)).toMatchObject({ boots: [], problems: [] });
  });

  it('never meets the sweep: what is in the pool is no orphan', async () => {
    const around = await pooled();
    await round(around);
    const [held] = await around.world.warmPool.held();
    const listed = { sandboxId: held?.sandboxId as SandboxId, generation: 1, up: true };
    const runtime = Object.assign(Object.create(around.runtime) as typeof around.runtime, {
      list: () => Promise.resolve([listed]),
    });
    const world = { ...around.world, runtime };
    expect((await sweepSandboxes(world, new Map())).sightings.size).toBe(0);
    await placedIn(around, 1);
    expect((await sweepSandboxes(world, new Map())).sightings.size).toBe(0);
  });
});

describe('a claim', () => {
  it('takes the oldest one, tells the birth since when it is up, and says the same again', async () => {
    const around = await pooled();
    await round(around);
    const [oldest] = await around.world.warmPool.usable({ spec: WISH.spec, bootedAfter: 0 });
    await around.clock.moveTo(T0 + 60_000);
    const answer = await answerOf(around, place(1));
    const id = oldest?.sandboxId;
    expect(answer).toMatchObject({ type: 'placed', sandboxId: id, spec: { sandboxId: id, bootedAt: T0 } });
    expect(await answerOf(around, place(1))).toEqual(answer);
    const create = { type: 'createSandbox', id: 's#1', sandboxId: id, generation: 1, deadline: T0 } as const;
    const ordered = { ...create, sandboxId: id as SandboxId, bootedAt: T0 };
    expect(await answerOf(around, ordered)).toMatchObject({ type: 'sandboxReady', bootedAt: T0 });
    around.runtime.presences.delete(id as SandboxId);
    expect(await answerOf(around, ordered)).not.toHaveProperty('bootedAt');
  });

  it('looks first: one that is not well is given up with its reason, and the next one is taken', async () => {
    const around = await pooled();
    await round(around);
    const [first, second] = (await readyIds(around)) as [SandboxId, SandboxId];
    around.runtime.presences.set(first, { kind: 'crashed', generation: 1, reason: 'out of memory' });
    expect(await placedIn(around, 1)).toBe(second);
    expect(await around.world.warmPool.held()).toMatchObject([{ sandboxId: first, state: 'leaving' }]);
    expect(await placedIn(around, 2)).toBe(around.world.keys.sandboxIdOf(conversation(2), 0));
  });

  it('passes over a pool that cannot be asked, and keeps it', async () => {
    const around = await pooled();
    await round(around);
    const ids = await readyIds(around);
    for (const id of ids) around.runtime.presences.set(id, { kind: 'unknown', reason: 'no answer' });
    expect(ids).not.toContain(await placedIn(around, 1));
    expect(await readyIds(around)).toEqual(ids);
  });

  it('is not made for an explicit choice, nor where no pool is wanted', async () => {
    const around = await pooled();
    await round(around);
    const other = sandboxId('d'.repeat(32));
    expect(await answerOf(around, place(1, other))).toMatchObject({ code: 'not_found' });
    expect(await readyIds(around)).toHaveLength(2);
    const off = changed(around, { size: 0 });
    expect(await placedIn(off, 2)).toBe(around.world.keys.sandboxIdOf(conversation(2), 0));
    expect(await readyIds(around)).toHaveLength(2);
  });
});

/** What happens to the pool and beside it, in any order, some of it at once. */
type Act = { readonly kind: 'claims'; readonly count: number } | { readonly kind: 'round' | 'death' | 'age' };

describe('claims, rounds and deaths in any order', () => {
  it('never give one sandbox to two, nor a dead one while a well or a new one can be had', async () => {
    const act: fc.Arbitrary<Act> = fc.oneof(
      fc.record({ kind: fc.constant('claims' as const), count: fc.integer({ min: 1, max: 4 }) }),
      fc.record({ kind: fc.constantFrom('round' as const, 'death' as const, 'age' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(act, { maxLength: 12 }), async (acts) => {
        const around = await pooled({ warmPool: { ...WISH, size: 3 } });
        const owners = new Map<SandboxId, number>();
        let next = 1;
        for (const one of acts) {
          if (one.kind === 'round') await round(around);
          if (one.kind === 'age') await around.clock.moveTo(around.clock.now() + MAX_AGE / 3);
          if (one.kind === 'death') {
            const [victim] = await readyIds(around);
            if (victim !== undefined)
              around.runtime.presences.set(victim, { kind: 'crashed', generation: 1, reason: 'killed' });
          }
          if (one.kind !== 'claims') continue;
          const well = (
            await around.world.warmPool.usable({
              ...{ spec: WISH.spec, bootedAfter: around.clock.now() - MAX_AGE },
            })
          ).filter(({ sandboxId: id }) => around.runtime.presences.get(id)?.kind === 'up');
          const numbers = Array.from({ length: one.count }, () => next++);
          const got = await Promise.all(numbers.map((index) => placedIn(around, index)));
          for (const [position, id] of got.entries()) {
            expect(owners.has(id)).toBe(false);
            owners.set(id, numbers[position] as number);
            const isNew = id === around.world.keys.sandboxIdOf(conversation(numbers[position] as number), 0);
            expect(isNew || around.runtime.presences.get(id)?.kind === 'up').toBe(true);
          }
          const warm = got.filter((id) => well.some(({ sandboxId: wellId }) => wellId === id));
          expect(warm).toHaveLength(Math.min(one.count, well.length));
        }
        const held = (await around.world.warmPool.held()).map(({ sandboxId: id }) => id);
        expect(held.filter((id) => owners.has(id))).toEqual([]);
        const { installation } = await around.store.search.slotsTaken(userId('ada'));
        expect(installation).toBe(owners.size + held.length);
      }),
      { numRuns: 30 },
    );
  });
});
