/** Each fault of clients shows its effect once, by schedule, and nothing is broken by it after the world has healed. */
import { describe, expect, it } from 'vitest';
import { NO_FAULTS } from '../../simulator/faults/injector.ts';
import { conversationIdNamed } from '../../simulator/models/derived-id.ts';
import { M, plan, start } from '../conformance/script-parts.ts';
import { commandId, instants, outline, play, TALK_A, type Parts, type Play } from './stage-plays.ts';

const plain = play(NO_FAULTS);
const boot = commandId(plain, 'createSandbox');
const sandbox = boot.slice(0, boot.indexOf('#'));
const talk = `conversation/${TALK_A.id}`;

function struck(key: string, parts: Parts = {}): Play {
  const played = play([key], parts);
  expect(played.injected.map(({ fault, where }) => `${fault}@${where}`)).toEqual([key]);
  expect(played.stage.violations).toEqual([]);
  return played;
}

const delivered = ({ stage }: Play) => [...stage.world.delivered.values()];

describe('faults of clients', () => {
  it('client_retry_same_key: a request that is repeated changes nothing', () => {
    const played = struck(`client_retry_same_key@client/messageReceived/${talk}/1`);
    expect(outline(played)).toEqual(outline(plain));
    expect(played.stage.simulation.events).toBeGreaterThan(plain.stage.simulation.events);
  });

  it('client_retry_new_key: a message under a new id is another message', () => {
    const played = struck(`client_retry_new_key@client/messageReceived/${talk}/1`);
    expect(delivered(played)).toEqual([1, 1, 1, 1]);
    expect(played.stage.world.accepted.size).toBe(4);
  });

  it('client_cancel: a conversation is interrupted at an odd moment', () => {
    const played = struck(`client_cancel@active/${talk}/1`);
    expect(instants(played, 'interruptRequested')).toHaveLength(1);
  });

  it('client_cancel: a run is cancelled at an odd moment', () => {
    const life = [[0, { do: 'run', plan: plan(3) }]] as const;
    const played = struck('client_cancel@running/run/batch/1', { life });
    expect(instants(played, 'cancelRequested')).toHaveLength(1);
  });

  it('client_burst: many messages at once, each delivered once or refused once', () => {
    const played = struck(`client_burst@active/${talk}/1`);
    const { accepted, delivered: handed, refused } = played.stage.world;
    expect(accepted.size).toBeGreaterThan(5);
    expect(handed.size + refused.size).toBe(accepted.size);
  });

  it.each(['starting', 'running', 'pausing', 'released', 'reserving', 'resuming'])(
    'client_in_transition: somebody acts on a sandbox that begins to be %s',
    (phase) => {
      const played = struck(`client_in_transition@${phase}/${sandbox}/1`);
      expect(played.stage.simulation.events).not.toBe(plain.stage.simulation.events);
    },
  );

  it.each(['attaching', 'waitingForSandbox', 'preparingRepository', 'active'])(
    'client_in_transition: somebody acts on a conversation that begins to be %s',
    (phase) => {
      const played = play([`client_in_transition@${phase}/${talk}/1`]);
      expect(played.injected).toHaveLength(1);
      expect(played.stage.violations).toEqual([]);
    },
  );

  it('client_delete_twice: the second deletion changes nothing more', () => {
    const played = struck(`client_delete_twice@running/${sandbox}/1`);
    expect(instants(played, 'sandboxDestroyed')).toHaveLength(1);
    expect(played.stage.world.live.size).toBe(0);
  });

  it('client_on_shared: what one does to a shared sandbox happens to all in it', () => {
    const life = [
      [0, start('a', { strategy: 'ADD_TO_ANY' })],
      [5 * M, start('b', { strategy: 'ADD_TO_ANY' })],
      [60 * M, { do: 'message', name: 'b' }],
    ] as const;
    const alone = play(NO_FAULTS, { life });
    const b = { machine: 'conversation', id: conversationIdNamed('b') } as const;
    const played = struck(`client_on_shared@pausing/${sandbox}/1`, { life });
    expect(outline(played)).not.toEqual(outline(alone));
    expect(played.stage.simulation.stateOf(b)).not.toBeNull();
  });

  it('an edge lets nobody speak to a conversation that is not there, or not yet ready', () => {
    const played = struck(`client_burst@placing/${talk}/1`);
    expect(played.stage.world.accepted.size).toBeGreaterThanOrEqual(3);
    expect(delivered(played).every((count) => count === 1)).toBe(true);
  });
});
