/** What a worker does with a batch, without a server: what is said, in which order, and what is not said twice. */
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, it } from 'vitest';
import { ParleyError } from '../../core/parley-error.ts';
import type { JournalVerdict } from '../../ports/journal.ts';
import { carrierActivities } from '../../temporal/carrier.ts';
import type { HostLookup } from '../../ports/host-leases.ts';
import type { Batch, BatchAnswer } from '../../workflows/carrier.ts';
import type { AddressedEnvelope } from '../../workflows/envelope.ts';
import { fakeActivities, type Overrides } from '../engine/fake-activities.ts';
import { MovableClock, T0 } from '../engine/movable-clock.ts';
import { conversationRow, conversationNumber, sandboxNumber } from '../contract/store-rows.ts';

const ENTITY = { machine: 'conversation', id: conversationNumber(1) } as const;
const PLACE = {
  type: 'placeConversation',
  id: 'place',
  conversationId: conversationNumber(1),
} as unknown as Batch['commands'][number];

const envelope = (id: string, machine: 'sandbox' | 'run' = 'sandbox'): AddressedEnvelope => ({
  to: { machine, id: machine === 'run' ? 'r' : sandboxNumber(1) },
  id,
  event: { type: 'deadline' },
});

interface Scene {
  readonly verdict?: JournalVerdict;
  readonly activities?: Overrides;
  readonly send?: (one: AddressedEnvelope) => Promise<void>;
  readonly hosts?: HostLookup;
}

function scene({ verdict = { kind: 'applied' }, activities, send, hosts }: Scene) {
  const told: string[] = [];
  const fakes = fakeActivities(new MovableClock(T0), activities);
  const carrier = carrierActivities({
    store: {
      load: () => Promise.resolve(null),
      latest: () => Promise.resolve(0),
      commitJournaled: (entry, batch) => {
        told.push(
          `wrote ${entry.number}: ${batch.projections.length} rows, ${batch.entities.length} entities`,
        );
        return Promise.resolve(verdict);
      },
    },
    send: async (one) => {
      await send?.(one);
      told.push(`sent ${one.id}`);
    },
    activities: fakes.activities,
    clock: new MovableClock(T0),
    onRows: () => void told.push('rows heard'),
    ...(hosts === undefined ? {} : { hosts }),
  });
  const announce = (change: Partial<Batch>): Promise<BatchAnswer> =>
    new MockActivityEnvironment().run(carrier.announce, {
      entity: ENTITY,
      number: 4,
      settled: 3,
      inputs: [],
      rows: [],
      envelopes: [],
      commands: [],
      ...change,
    });
  return { told, announce, ran: fakes.ran };
}

describe('a batch', () => {
  it('is written with its rows before anything of it is said', async () => {
    const { told, announce } = scene({});
    const answer = await announce({
      rows: [conversationRow(conversationNumber(1))],
      envelopes: [envelope('a')],
    });
    expect(told).toEqual(['wrote 4: 1 rows, 0 entities', 'rows heard', 'sent a']);
    expect(answer).toEqual({ kind: 'accepted', basis: [], events: {}, failed: [] });
  });

  it('buries the entity with its last rows', async () => {
    const { told, announce } = scene({});
    await announce({ tombstone: { state: { phase: 'deleted' } } });
    expect(told).toEqual(['wrote 4: 0 rows, 1 entities', 'rows heard']);
  });

  it('has no effect when another execution was first, and answers what that one rests on', async () => {
    const inputs = [{ kind: 'deadline', at: 7 }] as const;
    const { told, announce, ran } = scene({ verdict: { kind: 'different', inputs } });
    const answer = await announce({ envelopes: [envelope('a')], commands: [PLACE] });
    expect(answer).toEqual({ kind: 'different', inputs });
    expect(told).toEqual(['wrote 4: 0 rows, 0 entities']);
    expect(ran).toEqual([]);
  });

  it('says nothing more when the entity is further than this execution, and says so', async () => {
    const { told, announce } = scene({ verdict: { kind: 'overtaken' } });
    expect(await announce({ envelopes: [envelope('a')] })).toEqual({ kind: 'overtaken' });
    expect(told).toEqual(['wrote 4: 0 rows, 0 entities']);
  });

  it('says what one receiver hears in order, and lets no receiver wait for another', async () => {
    let hold = (): void => undefined;
    const held = new Promise<void>((resolve) => (hold = resolve));
    const { told, announce } = scene({ send: (one) => (one.id === 'a' ? held : Promise.resolve()) });
    const said = announce({ envelopes: [envelope('a'), envelope('b'), envelope('c', 'run')] });
    await expect.poll(() => told.includes('sent c')).toBe(true);
    expect(told).not.toContain('sent b');
    hold();
    await said;
    expect(told.slice(1)).toEqual(['sent c', 'sent a', 'sent b']);
  });

  it('answers for brief commands, and leaves those that failed for now to be tried again', async () => {
    const refused = new ParleyError('store_unavailable', 'not now');
    const { announce } = scene({ activities: { placeConversation: () => Promise.reject(refused) } });
    expect(await announce({ commands: [PLACE] })).toEqual({
      kind: 'accepted',
      basis: [],
      events: {},
      failed: ['place'],
    });
  });

  it('answers what it rests on: how many inputs of a kind, of which instant, in their order', async () => {
    const { announce } = scene({});
    const strike = (at: number) => ({ kind: 'deadline', at }) as const;
    const came = (id: string, at: number) => ({ kind: 'envelope', envelope: envelope(id), at }) as const;
    const inputs = [came('a', 1), came('b', 1), came('c', 2), strike(2), came('d', 2)];
    expect(await announce({ inputs })).toMatchObject({
      basis: [
        { kind: 'envelope', count: 2, at: 1 },
        { kind: 'envelope', count: 1, at: 2 },
        { kind: 'deadline', count: 1, at: 2 },
        { kind: 'envelope', count: 1, at: 2 },
      ],
    });
  });
});

describe('commands that reach into sandboxes of hosts', () => {
  const [HERE, ELSEWHERE, UNBOUND] = [sandboxNumber(1), sandboxNumber(2), sandboxNumber(3)];
  const asked: (readonly string[])[] = [];
  const hosts: HostLookup = {
    own: 'a',
    of: (ids) => {
      asked.push(ids);
      const all = [[HERE, 'a'] as const, [ELSEWHERE, 'b'] as const];
      return Promise.resolve(new Map(all.filter(([id]) => ids.includes(id))));
    },
  };
  const hooks = (id: string, sandboxId: string): Batch['commands'][number] =>
    ({ type: 'setUpGitHooks', id, sandboxId, generation: 1, conversationId: conversationNumber(1) }) as never;

  it('are left to their host, brief ones too, and the others are carried out here', async () => {
    const { announce, ran } = scene({ hosts });
    const commands = [hooks('here', HERE), hooks('there', ELSEWHERE), hooks('anywhere', UNBOUND), PLACE];
    const answer = await announce({ commands, touched: { boot: ELSEWHERE, look: UNBOUND } });
    expect(answer).toMatchObject({ kind: 'accepted', hosts: { here: 'a', there: 'b', boot: 'b' } });
    expect(Object.keys(answer.kind === 'accepted' ? answer.events : {}).sort()).toEqual([
      ...['anywhere', 'here', 'place'],
    ]);
    expect(ran.map(({ id }) => id).sort()).toEqual(['anywhere', 'here', 'place']);
  });

  it('cost no question where there are none, and none where nothing is bound', async () => {
    asked.length = 0;
    await scene({ hosts }).announce({ commands: [PLACE] });
    const answer = await scene({}).announce({ commands: [hooks('h', ELSEWHERE)], touched: { b: ELSEWHERE } });
    expect(asked).toEqual([]);
    expect(answer).toMatchObject({ kind: 'accepted', failed: [] });
    expect(answer).not.toHaveProperty('hosts');
  });
});
