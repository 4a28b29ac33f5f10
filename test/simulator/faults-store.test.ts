/** Each fault of the store shows its effect once, by schedule, and nothing is broken by it after the world has healed. */
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, SECOND_MS } from '../../core/time.ts';
import { ASKED_AGAIN, AWAY, CONFLICT, SLOW } from '../../simulator/faults/figures.ts';
import { NO_FAULTS } from '../../simulator/faults/injector.ts';
import { conversationIdNamed } from '../../simulator/models/derived-id.ts';
import { H, M, start } from '../conformance/script-parts.ts';
import { commandId, instants, outline, play, TALK_A, type Parts, type Play } from './stage-plays.ts';

const plain = play(NO_FAULTS);
const boot = commandId(plain, 'createSandbox');
const [readyAt = 0] = instants(plain, 'sandboxReady');
const MESSAGE = `client/messageReceived/conversation/${TALK_A.id}/1`;

function struck(key: string, parts: Parts = {}): Play {
  const played = play([key], parts);
  expect(played.injected.map(({ fault, where }) => `${fault}@${where}`)).toEqual([key]);
  expect(played.stage.violations).toEqual([]);
  return played;
}

describe('faults of the store', () => {
  it.each([
    ['store_conflict', CONFLICT],
    ['store_slow', SLOW],
    ['store_restart', AWAY],
    ['store_full', AWAY],
  ])('%s: an answer is committed later, once', (fault, { minMs, maxMs }) => {
    const played = struck(`${fault}@answer/${boot}/1`);
    const lateMs = (instants(played, 'sandboxReady')[0] ?? 0) - readyAt;
    expect(lateMs).toBeGreaterThanOrEqual(minMs);
    expect(lateMs).toBeLessThanOrEqual(maxMs);
    expect(outline(played)).toEqual(outline(plain));
  });

  it('store_timeout_after_commit: an event that comes again changes nothing', () => {
    expect(outline(struck(`store_timeout_after_commit@answer/${boot}/1`))).toEqual(outline(plain));
    const message = struck(`store_timeout_after_commit@${MESSAGE}`);
    expect(outline(message)).toEqual(outline(plain));
    expect(message.stage.simulation.events).toBeGreaterThan(plain.stage.simulation.events);
  });

  it('store_restart: nothing is decided while it is away, and agents work on', () => {
    const played = struck(`store_restart@${MESSAGE}`);
    const [at = 0] = instants(played, 'messageReceived');
    expect(at).toBeGreaterThan(30 * MINUTE_MS + AWAY.minMs);
    const during = played.steps.filter(({ at: when }) => {
      const sinceMs = when - played.stage.simulation.now() + 10 * H;
      return sinceMs > 30 * MINUTE_MS && sinceMs < at;
    });
    expect(during).toEqual([]);
    expect([...played.stage.world.delivered.values()]).toEqual([1, 1, 1]);
  });

  it('store_full: a client that gives up has sent nothing, and one that asks again is heard', () => {
    const heard = new Set<number>();
    for (let number = 1; number <= 16; number += 1) {
      const many = Array.from(
        { length: 16 },
        (_, at) => [(30 + at) * M, { do: 'message', name: 'a' }] as const,
      );
      const key = `store_full@client/messageReceived/conversation/${TALK_A.id}/${number}`;
      const played = struck(key, { life: [[0, start('a')], ...many] });
      const count = played.stage.world.delivered.size;
      expect(played.stage.world.accepted.size).toBe(count);
      heard.add(count);
    }
    expect([...heard].sort((one, other) => one - other)).toEqual([16, 17]);
  });

  it('store_full: what begins a life is asked for until it is there', () => {
    const played = struck(`store_full@client/started/conversation/${TALK_A.id}/1`);
    const [at = 0] = instants(played, 'started');
    expect(at).toBeGreaterThanOrEqual(AWAY.minMs + ASKED_AGAIN.minMs);
  });

  it('store_slow: a message to a conversation whose start is still held up was never accepted', () => {
    const life = [
      [0, start('a')],
      [1, { do: 'message', name: 'a' }],
    ] as const;
    const played = struck(`store_slow@client/started/conversation/${TALK_A.id}/1`, { life });
    expect([...played.stage.world.accepted.keys()]).toEqual(['a/initial']);
  });

  it('store_old_replica: a placement by an old row is refused by the sandbox, and made again', () => {
    const b = conversationIdNamed('b');
    const life = [
      [0, start('a')],
      [20 * M, { do: 'pause', of: 'a' }],
      [30 * M, start('b', { strategy: 'ADD_TO_ANY' })],
    ] as const;
    const right = play(NO_FAULTS, { life });
    const wrong = struck(`store_old_replica@place/conversation/${b}/1`, { life });
    expect(instants(right, 'placed')).toHaveLength(2);
    expect(instants(wrong, 'placed')).toHaveLength(3);
    expect(instants(wrong, 'placed')[1]).toBeLessThan(30 * MINUTE_MS + SECOND_MS);
  });
});
