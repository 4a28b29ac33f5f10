/** Group commit is nothing but speed: with one event per commit every entity takes the same steps. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Command } from '../../core/machine/command.ts';
import { addressKey } from '../../core/ids.ts';
import type { StepRecord } from '../../engine/batch.ts';
import type { Delivery } from '../../ports/notifier.ts';
import { openStore } from '../../store/open-store.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { specOf, sandboxOf } from './fake-activities.ts';
import { beginLife, conversationAt, message, started } from './engine-harness.ts';
import { turns } from './movable-clock.ts';

type ScriptStep =
  | {
      readonly do: 'start' | 'message' | 'interrupt' | 'remove' | 'pause' | 'resume' | 'destroy';
      readonly index: number;
    }
  | { readonly do: 'wait'; readonly ms: number };

const CONVERSATIONS = 3;
const index = fc.integer({ min: 0, max: CONVERSATIONS - 1 });
const step: fc.Arbitrary<ScriptStep> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant('start' as const), index }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('message' as const), index }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constantFrom(
        'interrupt' as const,
        'remove' as const,
        'pause' as const,
        'resume' as const,
        'destroy' as const,
      ),
      index,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.integer({ min: 1, max: 15 * 24 * 3_600_000 }),
    }),
  },
);

/** Without a conversation most steps would fall on nothing. */
const BEGINNING: readonly ScriptStep[] = [{ do: 'start', index: 0 }];

/** Conversations 0 and 1 share the sandbox of 0; which one is first decides who brings it to life. */
const shared = conversationAt(0);

function deliveryOf(one: Exclude<ScriptStep, { do: 'wait' }>, number: number): Delivery {
  const requestId = `q${number}`;
  const conversation = { machine: 'conversation', id: conversationAt(one.index) } as const;
  const sandbox = {
    machine: 'sandbox',
    id: sandboxOf(one.index < 2 ? shared : conversationAt(one.index)),
  } as const;
  switch (one.do) {
    case 'start':
      return started(one.index);
    case 'message':
      return message(one.index, requestId);
    case 'interrupt':
      return { to: conversation, event: { type: 'interruptRequested', requestId } };
    case 'remove':
      return { to: conversation, event: { type: 'deleteRequested', requestId } };
    case 'pause':
      return { to: sandbox, event: { type: 'pauseRequested', requestId, reason: 'user' } };
    case 'resume':
      return { to: sandbox, event: { type: 'resumeRequested', requestId, conversationId: null } };
    case 'destroy':
      return { to: sandbox, event: { type: 'deleteRequested', requestId } };
  }
}

/** Plays a script, each step settled before the next: the traces of all entities, in order per entity only. */
async function play(
  script: readonly ScriptStep[],
  batchEventsMax: number,
): Promise<ReadonlyMap<string, readonly unknown[]>> {
  const store = await openStore({ kind: 'sqlite', path: `${tempDir()}/parley.db` });
  const life = await beginLife({
    store,
    batchEventsMax,
    activities: {
      placeConversation: ({ id, conversationId, onlyLeaves }) => {
        if (onlyLeaves === true)
          return { type: 'placementRefused', commandId: id, code: 'placement_failed', reason: 'left' };
        const first = conversationId === conversationAt(1) ? shared : conversationId;
        return { type: 'placed', commandId: id, sandboxId: sandboxOf(first), spec: specOf(first) };
      },
    },
  });
  const settle = async (): Promise<void> => {
    await turns(3);
    await life.engine.settled();
  };
  for (const [number, one] of script.entries()) {
    if (one.do === 'wait') await life.clock.move(one.ms, settle);
    else await life.engine.deliver(deliveryOf(one, number));
    await settle();
  }
  await life.engine.stop();
  await store.close();
  return tracesOf(life.steps);
}

function tracesOf(steps: readonly StepRecord[]): ReadonlyMap<string, readonly unknown[]> {
  const traces = new Map<string, unknown[]>();
  for (const { address, event, after, commands } of steps) {
    const trace = traces.get(addressKey(address)) ?? [];
    traces.set(addressKey(address), trace);
    trace.push({ event: event.type, after, commands: commands.map(nameOf) });
  }
  return traces;
}

/** Ids of commands are counts: the same in both. */
function nameOf(command: Command): string {
  if (command.type === 'send') return `tell ${addressKey(command.to)} ${command.event.type}`;
  return command.type === 'cancelCommand' ? `cancel ${command.commandId}` : `${command.type} ${command.id}`;
}

describe('one event per commit and group commit', () => {
  it('give the same trace for every entity', async () => {
    let steps = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 9 }), async (random) => {
        const script = [...BEGINNING, ...random];
        const [single, group] = [await play(script, 1), await play(script, 256)];
        expect(group).toEqual(single);
        for (const trace of group.values()) steps += trace.length;
      }),
      { seed: 20_260_712, numRuns: 40 },
    );
    expect(steps).toBeGreaterThan(1_000);
  }, 600_000);
});
