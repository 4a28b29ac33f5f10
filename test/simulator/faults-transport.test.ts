/** Each fault of messages and answers shows its effect once, by schedule, and nothing is broken by it afterwards. */
import { describe, expect, it } from 'vitest';
import { ANSWER_LATE, TELL_DELAY } from '../../simulator/faults/figures.ts';
import { NO_FAULTS } from '../../simulator/faults/injector.ts';
import { M, start, type TimedStep } from '../conformance/script-parts.ts';
import { commandId, instants, outline, play, type Play } from './stage-plays.ts';

const plain = play(NO_FAULTS);
const boot = commandId(plain, 'createSandbox');
const sandbox = boot.slice(0, boot.indexOf('#'));
const conversation = commandId(plain, 'placeConversation').slice(0, -2);
const NOTICE = `tell/sandboxNoticed/${conversation}/${sandbox}`;

function struck(...keys: readonly string[]): Play {
  const played = play(keys);
  expect(played.injected.map(({ fault, where }) => `${fault}@${where}`).sort()).toEqual([...keys].sort());
  expect(played.stage.violations).toEqual([]);
  return played;
}

/** Generations and sequences of the notices that a conversation took in, in order. */
function stamps({ steps }: Play): readonly number[] {
  return steps.flatMap(({ event }) =>
    event.type === 'sandboxNoticed' ? [event.sandbox.generation * 1_000 + event.sandbox.sequence] : [],
  );
}

const comesAndGoes = (minute: number): readonly TimedStep[] => [
  [minute * M, { do: 'pause', of: 'a' }],
  [(minute + 5) * M, { do: 'message', name: 'a' }],
];

/** Notices that sandboxes sent. */
function told({ steps }: Play): number {
  const orders = steps.flatMap(({ commands }) => commands);
  return orders.filter((one) => one.type === 'send' && one.event.type === 'sandboxNoticed').length;
}

describe('faults of messages between machines', () => {
  it('tell_delayed: a notice arrives late, everything after it in time', () => {
    const lateMs =
      (instants(struck(`tell_delayed@${NOTICE}/1`), 'sandboxNoticed')[0] ?? 0) -
      (instants(plain, 'sandboxNoticed')[0] ?? 0);
    expect(lateMs).toBeGreaterThan(0);
    expect(lateMs).toBeLessThanOrEqual(TELL_DELAY.maxMs);
  });

  it('tell_delayed: a notice that was overtaken says nothing any more', () => {
    const life = [[0, start('a')], ...[30, 40, 50, 60, 70, 80].flatMap(comesAndGoes)] as const;
    const played = play({ kind: 'mix', mix: { tell_delayed: 1 } }, { life });
    expect(played.stage.violations).toEqual([]);
    const taken = stamps(played);
    expect([...taken].sort((one, other) => one - other)).toEqual(taken);
    const quiet = play(NO_FAULTS, { life });
    expect(told(played) - taken.length).toBeGreaterThan(told(quiet) - stamps(quiet).length);
    expect(new Set(played.stage.world.delivered.values())).toEqual(new Set([1]));
  });

  it('tell_delayed_in_order: what follows waits behind it, and nothing is overtaken', () => {
    for (const which of [1, 2, 3, 4]) {
      const played = struck(`tell_delayed_in_order@${NOTICE}/${which}`);
      expect(stamps(played)).toEqual(stamps(plain));
      const at = instants(played, 'sandboxNoticed');
      expect(at[which - 1]).toBeGreaterThan(instants(plain, 'sandboxNoticed')[which - 1] ?? 0);
      expect([...at].sort((one, other) => one - other)).toEqual(at);
    }
  });

  it('tell_repeated: the second copy changes nothing', () => {
    const played = struck(`tell_repeated@${NOTICE}/1`);
    expect(outline(played)).toEqual(outline(plain));
    expect(played.stage.simulation.events).toBe(plain.stage.simulation.events + 1);
  });
});

describe('faults of answers', () => {
  it('answer_late: the answer of a command takes its time', () => {
    const played = struck(`answer_late@${boot}/1`);
    const [ready = 0] = instants(plain, 'sandboxReady');
    const lateMs = (instants(played, 'sandboxReady')[0] ?? 0) - ready;
    expect(lateMs).toBeGreaterThanOrEqual(ANSWER_LATE.minMs);
    expect(lateMs).toBeLessThanOrEqual(ANSWER_LATE.maxMs);
  });

  it('answer_repeated: the second answer changes nothing', () => {
    const played = struck(`answer_repeated@${boot}/1`);
    expect(outline(played)).toEqual(outline(plain));
    expect(played.stage.simulation.events).toBe(plain.stage.simulation.events + 1);
  });
});
