/** Every cell of a shard's table, absent ones included, against the golden file; and what it reports to its run. */
import { describe, expect, it } from 'vitest';
import type { RunState } from '../../core/run/state.ts';
import { shardMachine } from '../../core/shard/machine.ts';
import type { ShardEvent } from '../../core/shard/message.ts';
import { SHARD_PHASES, SHARD_TABLE } from '../../core/shard/table.ts';
import { conversationOf, ITEM, RULES } from './run-life.ts';
import { SANDBOX } from './sandbox-life.ts';
import { INDEX, noticed, ShardLife, directiveFor } from './shard-life.ts';
import { walkTable } from './table-walk.ts';

const CANCELLED = { outcome: 'cancelled', failureClass: null, detail: null } as const;
const retry = [{ on: ['agent_error'], attempts: 3, initialMs: 60_000, factor: 1, maxMs: 60_000 }] as const;
const deadline = { ...RULES.wait, deadlineMs: 60_000 };

const LIVES: Readonly<Record<string, () => ShardLife>> = {
  'running (waits)': () => new ShardLife(),
  'running (starts)': () => new ShardLife().begins(),
  'running (works)': () => new ShardLife().works(),
  'running (works until a deadline)': () => new ShardLife({ wait: deadline }).works(),
  'running (told to stop)': () => new ShardLife().works().directive({ isStopped: true, ending: CANCELLED }),
  'running (verifies)': () => new ShardLife({}, { hasVerify: true }).works().rests('FINISHED'),
  'running (collects)': () => new ShardLife().works().rests('FINISHED'),
  'running (waits after a try)': () => new ShardLife({ retry }).works().rests('ERROR').collected(),
  'running (has ended)': () => new ShardLife().works().rests('FINISHED').collected(),
  finished: () => new ShardLife().works().rests('FINISHED').collected().send({ type: 'shardClosed' }),
  'finished (may open again)': () =>
    new ShardLife().works().rests('ERROR').collected().send({ type: 'shardClosed', mayOpenAgain: true }),
};

const item = ({ items }: RunState) => ({ commandId: items[0]?.awaiting ?? 'none', index: INDEX });

const EVENTS: {
  [Type in ShardEvent['type']]: (state: RunState) => Extract<ShardEvent, { type: Type }>;
} = {
  shardStarted: (state) => ({
    type: 'shardStarted',
    spec: { ...state, slice: { number: 1, from: INDEX }, items: [] },
  }),
  itemsDirected: (state) => ({
    type: 'itemsDirected',
    directives: [directiveFor(state, 1_000, { attempt: (state.items[0]?.attempt ?? 0) + 1 })],
  }),
  shardClosed: () => ({ type: 'shardClosed' }),
  conversationStarted: (state) => ({
    type: 'conversationStarted',
    ...item(state),
    conversationId: conversationOf(INDEX, 1),
  }),
  startRefused: (state) => ({ type: 'startRefused', ...item(state), reason: 'r' }),
  conversationNoticed: (state) => noticed(state, { executionStatus: 'FINISHED', settled: true }),
  itemVerified: (state) => ({ type: 'itemVerified', ...item(state), passed: false, detail: null }),
  verifyFailed: (state) => ({ type: 'verifyFailed', ...item(state), reason: 'r' }),
  itemCollected: (state) => ({ type: 'itemCollected', ...item(state), costNanoUsd: 5 }),
  collectFailed: (state) => ({ type: 'collectFailed', ...item(state), reason: 'r' }),
  deadline: () => ({ type: 'deadline' }),
};

const shown = (word: string, event: ShardEvent) => ({ word, event });

walkTable({
  name: 'shard',
  machine: shardMachine,
  table: SHARD_TABLE,
  phases: SHARD_PHASES,
  states: Object.entries(LIVES).map(([name, live]) => {
    const life = live();
    return { name, state: life.its, now: life.now };
  }),
  events: EVENTS,
  more: (state) => [
    shown('with more items', {
      type: 'shardStarted',
      spec: { ...state, slice: { number: 1, from: INDEX }, items: [ITEM, { ...ITEM, key: 'k1' }] },
    }),
    shown('to stop', {
      type: 'itemsDirected',
      directives: [directiveFor(state, 1_000, { isStopped: true, ending: CANCELLED })],
    }),
    shown('to begin and stop', {
      type: 'itemsDirected',
      directives: [
        directiveFor(state, 1_000, {
          attempt: (state.items[0]?.attempt ?? 0) + 1,
          isStopped: true,
          ending: CANCELLED,
        }),
      ],
    }),
    shown('to end', {
      type: 'itemsDirected',
      directives: [directiveFor(state, 1_000, { phase: 'ended', ending: CANCELLED })],
    }),
    shown('an older one', { type: 'itemsDirected', directives: [directiveFor(state, 0, { attempt: 9 })] }),
    shown('sandbox gone', noticed(state, { sandboxStatus: 'MISSING', settled: true })),
    shown('rate limit', noticed(state, { executionStatus: 'PAUSED', pauseReason: 'rate_limit' })),
  ],
});

describe('a shard and its run', () => {
  const told = (life: ShardLife) =>
    life.orders.flatMap((command) =>
      command.type === 'send' && command.to.machine === 'run' ? [command.event] : [],
    );

  it('says that it is there before it is told anything', () => {
    expect(told(new ShardLife())).toEqual([{ type: 'shardReady', number: 1, items: 1 }]);
  });

  it('tells how an attempt ended, with its cost and its sandbox, and that its class is tried again', () => {
    const life = new ShardLife({ retry }).works().rests('ERROR').collected();
    expect(told(life)).toMatchObject([
      {
        type: 'attemptEnded',
        index: INDEX,
        attempt: 1,
        phase: 'waiting',
        notBefore: life.now + 60_000,
        costNanoUsd: 5,
        sandboxId: SANDBOX,
        isUncollected: false,
      },
    ]);
  });

  it('tells that a sandbox holds what could not be collected', () => {
    const life = new ShardLife().works().rests('FINISHED');
    life.send({ type: 'collectFailed', ...item(life.its), reason: 'disk' });
    expect(told(life)).toMatchObject([{ type: 'attemptEnded', phase: 'ended', isUncollected: true }]);
  });

  it('takes up the items that it has not, in whatever order it hears of them, and says how many it has', () => {
    const life = new ShardLife().works();
    const spec = (count: number) =>
      ({
        type: 'shardStarted',
        spec: {
          ...life.its,
          slice: { number: 1, from: INDEX },
          items: Array.from({ length: count }, (_, index) => ({ ...ITEM, key: `k${index}` })),
        },
      }) as const;
    const before = life.item;
    expect(told(life.send(spec(3)))).toEqual([{ type: 'shardReady', number: 1, items: 3 }]);
    expect(life.its.items.map(({ key, phase }) => [key, phase])).toEqual([
      ['k0', 'working'],
      ['k1', 'waiting'],
      ['k2', 'waiting'],
    ]);
    expect(life.item).toBe(before);
    expect(told(life.send(spec(2)))).toEqual([{ type: 'shardReady', number: 1, items: 3 }]);
    expect(life.its.items).toHaveLength(3);
  });

  it('goes by what the wish says of the attempt', () => {
    const life = new ShardLife();
    life.directive({ attempt: 1, spec: { hasVerify: true, workingMs: 5, plan: 'h2' } });
    expect(life.item).toMatchObject({ hasVerify: true, workingMs: 5, plan: 'h2', phase: 'starting' });
    expect(life.orders.find(({ type }) => type === 'startConversation')).toMatchObject({ plan: 'h2' });
  });

  it('keeps to itself what concerns the item alone', () => {
    const life = new ShardLife().works();
    expect(told(life)).toMatchObject([{ type: 'conversationNoticed' }]);
    expect(told(life.notice({ executionStatus: 'IDLE' }))).toEqual([]);
    expect(told(life.notice({ sandboxStatus: 'MISSING' }))).toMatchObject([{ type: 'conversationNoticed' }]);
  });

  it('rests with its run, unless what it is told of is an earlier end, and has ended with it for good', () => {
    const closed = { type: 'shardClosed', mayOpenAgain: true } as const;
    const life = new ShardLife().works();
    expect(life.send(closed).its.phase).toBe('running');
    life.rests('ERROR').collected().send(closed);
    const polled = () => [shardMachine.rests?.(life.its), shardMachine.done(life.its)];
    expect(polled()).toEqual([true, false]);
    expect(life.directive({ phase: 'waiting' }).its.phase).toBe('finished');
    expect(life.begins().its.phase).toBe('running');
    expect(polled()).toEqual([false, false]);
    life.started().notice().rests('FINISHED').collected().send({ type: 'shardClosed' });
    expect(polled()).toEqual([true, true]);
    const ended = life.its;
    expect(life.begins().its).toBe(ended);
    expect(life.notice({ sandboxStatus: 'MISSING' }).its).toBe(ended);
  });

  it('tells its run what becomes of a sandbox after both have finished', () => {
    const life = new ShardLife().works().rests('ERROR').collected();
    life.send({ type: 'shardClosed', mayOpenAgain: true });
    expect(told(life.notice({ sandboxStatus: 'MISSING' }))).toMatchObject([{ type: 'conversationNoticed' }]);
  });

  it('tries nothing again by itself', () => {
    const life = new ShardLife({ retry }).works().rests('ERROR').collected();
    expect(shardMachine.deadline(life.its)).toBeNull();
    expect(life.begins().item).toMatchObject({ phase: 'starting', attempt: 2, failures: { agent_error: 1 } });
  });
});
