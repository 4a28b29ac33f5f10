/** A run that takes up a changed plan: what becomes of an item by where it stands. */
import { describe, expect, it } from 'vitest';
import { runId, userId } from '../../core/ids.ts';
import { planChanges } from '../../core/run/amend/plan-changes.ts';
import type { RunItemSpec } from '../../core/run/state.ts';
import { allItemsByPhase } from '../../core/run/items-by-phase.ts';
import { item, plan } from '../conformance/script-parts.ts';
import * as at from './run-life.ts';

interface Change {
  readonly changed?: readonly number[];
  readonly added?: readonly Partial<RunItemSpec>[];
  readonly retired?: readonly number[];
  readonly replaced?: readonly number[];
  readonly planHash?: string;
  readonly basePlanHash?: string;
}

let requests = 0;
function amend(life: at.RunLife, change: Change): at.RunLife {
  requests += 1;
  const { changed = [], added = [], retired = [], replaced } = change;
  const { planHash = 'h2', basePlanHash = 'h' } = change;
  return life.send({
    type: 'planAmended',
    requestId: `a${requests}`,
    by: 'ann',
    basePlanHash,
    planHash,
    changed: changed.map((index) => ({
      index,
      spec: { ...at.ITEM, key: `k${index}`, hasVerify: true },
      isAnew: true,
    })),
    added: added.map((spec, index) => ({ ...at.ITEM, key: `new${index}`, ...spec })),
    retired,
    ...(replaced === undefined ? {} : { replaced }),
  });
}

const phases = (life: at.RunLife): string =>
  life.its.items.map(({ phase, ending }) => (phase === 'ended' ? ending?.outcome : phase)).join(' ');
const plans = (life: at.RunLife) => life.its.items.map((one) => one.plan ?? null);
const said = (life: at.RunLife) =>
  life.orders.flatMap((order) => (order.type === 'record' ? [order.event.detail] : []));
const orderOf = (life: at.RunLife, type: string) => life.orders.find((order) => order.type === type);

describe('a run that takes up a changed plan', () => {
  it('lets new items wait behind the others, and begins them from the new plan', () => {
    const life = amend(new at.RunLife({ concurrency: 9 }, [{}]), { added: [{}] });
    expect(phases(life)).toBe('starting starting');
    expect(plans(life)).toEqual([null, 'h2']);
    expect(orderOf(life, 'startConversation')).toMatchObject({ index: 1, key: 'new0', plan: 'h2' });
    expect(said(life)).toEqual(['plan h -> h2: 1 new, by ann']);
    expect(life.its.planHash).toBe('h2');
    const row = life.orders.find((order) => order.type === 'project');
    expect(row).toMatchObject({
      rows: [
        { planHash: 'h2', total: 2 },
        { key: 'new0', phase: 'starting' },
      ],
    });
  });

  it('replaces what has not begun, and lets go of what the job no longer has', () => {
    const life = amend(new at.RunLife({}, [{}, {}, {}]), { changed: [1], retired: [0, 2] });
    expect(phases(life)).toBe('starting waiting cancelled');
    expect(life.item(1)).toMatchObject({ hasVerify: true, plan: 'h2', attempt: 0 });
    expect(life.item(2).ending?.detail).toBe('the job no longer has it');
    expect(said(life)).toEqual(['plan h -> h2: 1 changed, 1 no longer there, by ann']);
  });

  it('puts conversations in the place of one that stood for them, which nothing brings back', () => {
    const own = { groups: [0], needs: [{ group: 0, outcome: 'ended', entry: 'move' }] } as const;
    const life = new at.RunLife({ concurrency: 9 }, [{}, own]);
    expect(phases(life)).toBe('starting waiting');
    amend(life, { added: [{ groups: [0] }], replaced: [1] });
    expect(phases(life)).toBe('starting not_needed starting');
    expect(life.item(1).ending?.detail).toContain('its rows are known');
    amend(life, { added: [{}], planHash: 'h3', basePlanHash: 'h2' });
    expect(phases(life)).toBe('starting not_needed starting starting');
    expect(allItemsByPhase(life.its.items)).toEqual(life.its.byPhase);
  });

  it('replaces also where no row is there for it, under the plan it has', () => {
    const own = { groups: [0], needs: [{ group: 0, outcome: 'ended', entry: 'move' }] } as const;
    const life = amend(new at.RunLife({}, [{}, own]), { replaced: [1], planHash: 'h' });
    expect(phases(life)).toBe('starting not_needed');
  });

  it('leaves who is in flight what it was given, until its next attempt', () => {
    const retry = [{ on: ['agent_error'], attempts: 1, initialMs: 0, factor: 1, maxMs: 0 }] as const;
    const life = amend(new at.RunLife({ retry }).works(), { changed: [0] });
    expect(life.item()).toMatchObject({ phase: 'working', hasVerify: false });
    expect(said(life)).toEqual(['plan h -> h2: 1 changed from the next attempt on, by ann']);
    life.rests('ERROR');
    expect(orderOf(life, 'collectItem')).not.toHaveProperty('plan');
    life.collected();
    expect(orderOf(life, 'startConversation')).toMatchObject({ attempt: 2, plan: 'h2' });
    expect(life.item()).toMatchObject({ hasVerify: true, plan: 'h2', next: undefined });
  });

  it('takes up what had failed and is another now, and goes back to work for it', () => {
    const life = at.working({ settleMs: null }).rests('ERROR').collected().gone();
    expect(life.its.phase).toBe('reporting');
    const { awaiting } = life.its;
    amend(life, { changed: [0] });
    expect(life.its.phase).toBe('running');
    expect(phases(life)).toBe('starting');
    expect(life.item()).toMatchObject({ attempt: 2, costNanoUsd: 5 });
    expect(orderOf(life, 'cancelCommand')).toMatchObject({ commandId: awaiting });
  });

  it('leaves what has succeeded as it is, also when the rest goes on', () => {
    const life = new at.RunLife({}, [{}, {}]).works(0).rests('FINISHED', 0).collected(5, 0);
    amend(life, { changed: [0] });
    expect(phases(life)).toBe('succeeded starting');
    expect(life.item(0)).toMatchObject({ hasVerify: false });
  });

  it('looks again at who was skipped', () => {
    const stage = { groups: [0] };
    const needs = { needs: [{ group: 0, outcome: 'succeeded', entry: 'plan' }] } as const;
    const life = new at.RunLife({ concurrency: 9 }, [stage, needs])
      .works(0)
      .rests('ERROR', 0)
      .collected(1, 0);
    expect(phases(life)).toBe('failed skipped');
    const spec = { ...at.ITEM, ...stage };
    life.send({
      type: 'planAmended',
      requestId: 'again',
      basePlanHash: 'h',
      planHash: 'h2',
      changed: [{ index: 0, spec, isAnew: true }],
      added: [],
      retired: [],
    });
    expect(phases(life)).toBe('starting waiting');
  });

  it('keeps its books as one look at all items would', () => {
    const life = amend(new at.RunLife({ concurrency: 2 }, [{}, {}, {}]), {
      changed: [0, 1],
      added: [{ priority: 5 }, {}],
      retired: [2],
    });
    expect(life.its.byPhase).toEqual(allItemsByPhase(life.its.items));
    expect(life.its.byPhase?.waiting).toEqual([3, 4]);
  });

  it('does so once for a plan, and not at all for one that was compared with another', () => {
    const life = amend(new at.RunLife({}, [{}]), { added: [{}] });
    const { items } = life.its;
    amend(life, { added: [{}] });
    expect(life.its.items).toBe(items);
    amend(life, { planHash: 'h3', basePlanHash: 'h', added: [{}] });
    expect(life.its).toMatchObject({ items, planHash: 'h2' });
    expect(said(life)).toEqual([
      'plan h2 -> h3 was not taken up: the run has another plan meanwhile, by ann',
    ]);
  });

  it.each([
    ['cancelled', () => at.begun().ask('cancelRequested'), 'the run is being cancelled'],
    ['at its good end', () => at.finished(), 'the run has ended for good'],
  ])('says so when it cannot: %s', (_, live, why) => {
    const life = live();
    const { items } = life.its;
    amend(life, { added: [{}], retired: [0] });
    expect(life.its).toMatchObject({ items, planHash: 'h' });
    expect(said(life)).toEqual([`plan h -> h2 was not taken up: ${why}, by ann`]);
  });
});

describe('a run in shards that takes up a changed plan', () => {
  const ready = (life: at.RunLife, number: number, items: number) =>
    life.send({ type: 'shardReady', number, items });
  /** Two shards, the second with a place left, and both have said that they are there. */
  const sharded = (): at.RunLife =>
    ready(ready(new at.RunLife({ shardItems: 2, concurrency: 9 }, [{}, {}, {}]), 0, 2), 1, 1);
  const toShards = (life: at.RunLife) =>
    life.orders.flatMap((order) =>
      order.type === 'send' && order.to.machine === 'shard' ? [{ to: order.to.id, ...order.event }] : [],
    );

  it('tells the shard with room and the new ones of all their items, and no wish before they have them', () => {
    const life = amend(sharded(), { added: [{ priority: 3 }, { hasVerify: true }] });
    expect(life.its.shards).toEqual([true, false, false]);
    expect(toShards(life)).toMatchObject([
      {
        to: 'r.1',
        type: 'shardStarted',
        spec: { slice: { number: 1, from: 2 }, items: [{ key: 'k2' }, { key: 'new0' }] },
      },
      { to: 'r.2', type: 'shardStarted', spec: { slice: { number: 2, from: 4 }, items: [{ key: 'new1' }] } },
    ]);
    expect(phases(life)).toBe('starting starting starting starting starting');
    const directive = {
      type: 'itemsDirected',
      directives: [{ index: 4, spec: { hasVerify: true, plan: 'h2' } }],
    };
    expect(toShards(ready(life, 2, 1))).toMatchObject([{ to: 'r.2', ...directive }]);
  });

  it('waits for the shard as it is now: what it said of the time before does not count', () => {
    const life = amend(sharded(), { added: [{}] });
    expect(toShards(ready(life, 1, 1))).toEqual([]);
    expect(life.its.shards).toEqual([true, false]);
    const directives = [{ index: 2 }, { index: 3, attempt: 1, phase: 'starting', spec: { plan: 'h2' } }];
    expect(toShards(ready(life, 1, 2))).toMatchObject([{ to: 'r.1', type: 'itemsDirected', directives }]);
    expect(toShards(ready(life, 1, 2))).toEqual([]);
  });

  it('writes rows of new items that any row of a shard is newer than', () => {
    const life = amend(sharded(), { added: [{}], changed: [0] });
    const row = life.orders.find((order) => order.type === 'project');
    expect(row).toMatchObject({ rows: [{ total: 4 }, { key: 'new0', sequence: 1 }] });
    expect(row?.type === 'project' ? row.rows : []).toHaveLength(2);
  });

  it('gives a changed item to its shard with the attempt that goes by it', () => {
    const life = ready(ready(new at.RunLife({ shardItems: 1 }, [{}, {}]), 0, 1), 1, 1);
    amend(life, { changed: [1] });
    expect(toShards(life)).toEqual([]);
    life.send({
      type: 'attemptEnded',
      index: 0,
      attempt: 1,
      phase: 'ended',
      ending: { outcome: 'succeeded', failureClass: null, detail: null },
      notBefore: null,
      costNanoUsd: 1,
      conversationId: at.conversationOf(0, 1),
      sandboxId: null,
      sandboxStatus: null,
      isUncollected: false,
    });
    expect(toShards(life)).toMatchObject([
      { to: 'r.1', directives: [{ index: 1, attempt: 1, spec: { hasVerify: true, plan: 'h2' } }] },
    ]);
  });

  it('ends those that the job no longer has, where they live', () => {
    const life = new at.RunLife({ shardItems: 1, concurrency: 1 }, [{}, {}]);
    ready(ready(life, 0, 1), 1, 1);
    amend(life, { retired: [1] });
    expect(toShards(life)).toMatchObject([
      { to: 'r.1', directives: [{ index: 1, phase: 'ended', ending: { outcome: 'cancelled' } }] },
    ]);
  });
});

describe('rules of an item', () => {
  const own = { retry: [] };
  const change = (life: at.RunLife, planHash: string, basePlanHash: string, rules: Partial<RunItemSpec>) =>
    life.send({
      type: 'planAmended',
      requestId: planHash,
      basePlanHash,
      planHash,
      changed: [{ index: 0, spec: { ...at.ITEM, ...rules }, isAnew: true }],
      added: [],
      retired: [],
    });

  it('are given and taken by an amended plan, from the next attempt on, also through what is stored', () => {
    const life = new at.RunLife({ concurrency: 1 }, [{}, { priority: -1 }]);
    change(life, 'h2', 'h', { own });
    expect(life.item().own).toBeUndefined();
    expect(life.item().next).toMatchObject({ own });
    const once = { on: ['agent_error'], attempts: 1, initialMs: 1, factor: 1, maxMs: 1 } as const;
    const again = new at.RunLife({ concurrency: 1 }, [{ own: { retry: [once] } }]);
    change(again, 'h2', 'h', {});
    again.state = JSON.parse(JSON.stringify(again.state)) as typeof again.state;
    again.works().rests('ERROR').collected();
    again.timer();
    expect(again.item()).toMatchObject({ attempt: 2, own: null });
  });
});

describe('planChanges()', () => {
  const ids = { runId: runId('r'), userId: userId('u') };

  it('has the items that are others, those that only wait for others, and the new ones', () => {
    const before = plan(3, {
      items: [item(0), item(1, { entry: 'b' }), item(2, { entry: 'c' })],
      hash: 'before',
    });
    const after = plan(4, {
      items: [
        item(0, { specHash: 'other', priority: 3 }),
        item(1, { entry: 'b' }),
        item(2, { entry: 'c' }),
        item(3, { specHash: 'n', entry: 'd', needs: [{ entry: 'b', outcome: 'ended', each: false }] }),
      ],
      hash: 'after',
    });
    const { changed, added, ...hashes } = planChanges(before, after, ids);
    expect(hashes).toEqual({ basePlanHash: 'before', planHash: 'after' });
    expect(changed).toMatchObject([
      { index: 0, isAnew: true, spec: { key: 'item-0', priority: 3 } },
      { index: 1, isAnew: false, spec: { groups: [0] } },
    ]);
    expect(added).toMatchObject([{ key: 'item-3', needs: [{ group: 0, outcome: 'ended', entry: 'b' }] }]);
  });

  it('is empty for the same plan', () => {
    expect(planChanges(plan(2), plan(2), ids)).toMatchObject({ changed: [], added: [] });
  });
});
