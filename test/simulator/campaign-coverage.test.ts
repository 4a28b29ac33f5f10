/** Coverage counts what happened where: pairs by entity, neighbour and all; and the table of events can be read. */
import { describe, expect, it } from 'vitest';
import type { EntityAddress } from '../../core/ids.ts';
import { CoverageCounter } from '../../simulator/campaign/coverage.ts';
import { EventTable } from '../../simulator/campaign/event-table.ts';
import { Neighbours } from '../../simulator/campaign/neighbours.ts';
import { runCase } from '../../simulator/campaign/run-case.ts';
import type { FaultName } from '../../simulator/faults/catalogue.ts';
import type { SimulationStep } from '../../simulator/simulation-options.ts';

const BOX: EntityAddress = { machine: 'sandbox', id: 's' };
const OTHER: EntityAddress = { machine: 'sandbox', id: 'other' };
const TALK: EntityAddress = { machine: 'conversation', id: 'c' };

const box = (phase: string) => ({ phase, attached: {} });
const talk = (phase: string) => ({ phase, sandboxId: 's', spec: { runId: null } });

function setUp() {
  const neighbours = new Neighbours();
  const counter = new CoverageCounter(neighbours);
  const step = (address: EntityAddress, type: string, [before, after]: readonly [unknown, unknown]): void => {
    const taken = { at: 1, sequence: 1, address, event: { type }, before, after, commands: [] };
    neighbours.sees(taken as unknown as SimulationStep);
    counter.sees(taken as unknown as SimulationStep);
  };
  const strike = (fault: FaultName, address: EntityAddress | null): void =>
    counter.injected({
      fault,
      where: 'here',
      at: 1,
      entity: address === null ? null : `${address.machine}/${address.id}`,
    });
  step(BOX, 'created', [null, box('starting')]);
  step(TALK, 'started', [null, talk('active')]);
  return { counter, step, strike };
}

const READY = 'sandbox starting > running by sandboxReady';
const become = [box('starting'), box('running')] as const;

describe('a pair', () => {
  it('counts when a fault of the class struck the entity since its previous transition', () => {
    const { counter, step, strike } = setUp();
    strike('tell_delayed', BOX);
    step(BOX, 'sandboxReady', become);
    expect(counter.coverage.pairs).toEqual({ [`${READY} | transport`]: 1 });
    step(BOX, 'idleReached', [box('running'), box('pausing')]);
    expect(counter.coverage.pairs).toEqual({ [`${READY} | transport`]: 1 });
    expect(counter.coverage.transitions['sandbox running > pausing by idleReached']).toBe(1);
  });

  it('counts when it struck a neighbour, and not when it struck a stranger', () => {
    const { counter, step, strike } = setUp();
    strike('agent_hangs', TALK);
    strike('tell_delayed', OTHER);
    step(BOX, 'sandboxReady', become);
    expect(counter.coverage.pairs).toEqual({ [`${READY} | agent`]: 1 });
  });

  it('counts when it struck everybody, by its name or by its kind', () => {
    const { counter, step, strike } = setUp();
    strike('worker_clock_skew', null);
    strike('store_restart', OTHER);
    step(BOX, 'sandboxReady', become);
    expect(Object.keys(counter.coverage.pairs).sort()).toEqual([`${READY} | store`, `${READY} | worker`]);
  });

  it('does not count for a step that stays in its phase: that is a cell', () => {
    const { counter, step, strike } = setUp();
    strike('tell_delayed', BOX);
    step(BOX, 'agentNoticed', [box('starting'), box('starting')]);
    expect(counter.coverage.pairs).toEqual({});
    expect(counter.coverage.cells).toEqual({ 'sandbox starting agentNoticed': 1 });
    expect(counter.coverage.faults).toEqual({ tell_delayed: 1 });
  });
});

describe('the table of events', () => {
  it('has a line per event and per fault, with short names and the ids behind them', () => {
    const table = new EventTable(0);
    table.add({
      at: 90_061_001,
      sequence: 1,
      address: BOX,
      event: { type: 'idleReached' },
      before: box('running'),
      after: box('pausing'),
      commands: [
        { type: 'stopSandbox', id: 'sandbox/s#7' },
        { type: 'project', rows: [] },
        { type: 'send', to: TALK, event: { type: 'sandboxNoticed' } },
      ],
    } as unknown as SimulationStep);
    table.struck({ fault: 'runtime_killed', where: 'there', at: 90_061_002, entity: 'sandbox/s' });
    expect(table.lines).toEqual([
      '1d 01:01:01.001  S1   idleReached          running > pausing            stopSandbox #7, -> C1 sandboxNoticed',
      '1d 01:01:01.002  S1   !! runtime_killed @ there',
      '',
      'C1 = conversation/c',
      'S1 = sandbox/s',
    ]);
  });

  it('is made only on demand, and changes nothing', () => {
    const [without, withTable] = [runCase({ seed: 10 }), runCase({ seed: 10, table: true })];
    expect(without.table).toEqual([]);
    expect(withTable.table.length).toBeGreaterThan(50);
    expect(withTable.hash).toBe(without.hash);
  });
});
