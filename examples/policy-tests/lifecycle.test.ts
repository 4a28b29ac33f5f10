/**
 * The policy of this folder as tests in TypeScript, for what is easier to say in a program than in a scenario.
 * Owns nothing but expectations; the world is made by `parley/testing`.
 */
import { createWorld } from 'parley/testing';
import 'parley/testing/vitest';
import { describe, expect, it } from 'vitest';

const policy = { idleTime: '20m', deletionTime: '10d' } as const;

describe('the lifecycle of a sandbox', () => {
  it('is paused after twelve hours, even at work, and brought back by a message', () => {
    const world = createWorld({ policy, models: { agent: { work: '13h' } } });
    const conversation = world.start({ name: 'long', repo: 'acme/core' });
    world.advance('5m');
    expect(conversation).toBeRunning();

    world.advance('12h');
    expect(conversation.sandbox).toBePaused({ reason: 'session_limit' });

    conversation.send('Go on, please.');
    world.advance('1m');
    expect(conversation).toBeRunning();
    expect(conversation.sandbox.generation).toBe(2);
  });

  it('is paused when idle, and deleted ten days later', () => {
    const world = createWorld({ policy, models: { agent: { work: '10m' } } });
    const conversation = world.start({ name: 'short' });

    world.advance('29m');
    expect(conversation).toHaveOutcome('FINISHED');
    expect(conversation).toBeRunning();

    world.advance('5m');
    expect(conversation).toBePaused({ reason: 'idle' });

    world.advance('9d');
    expect(conversation).toBePaused();
    world.advance('1d');
    expect(conversation).toBeMissing();
  });

  it('is not idle while one of its conversations works', () => {
    const world = createWorld({
      policy: { ...policy, grouping: 'ADD_TO_ANY' },
      models: { agents: { short: { work: '5m' }, long: { work: '2h' } } },
    });
    const long = world.start({ name: 'long' });
    world.advance('1m');
    const short = world.start({ name: 'short' });

    world.advance('1h');
    expect(short.sandboxId).toBe(long.sandboxId);
    expect(short).toHaveOutcome('FINISHED');
    expect(short.sandbox).toBeRunning();
  });

  it('costs nothing once it is paused', () => {
    const world = createWorld({ policy, models: { agent: { work: '13h' } } });
    const conversation = world.start({ name: 'long' });
    world.at('2h', () => conversation.sandbox.pause());
    world.advance('3h');
    const { costUsd } = conversation;

    world.advance('2d');
    expect(conversation).toBePaused({ reason: 'user' });
    expect(conversation).toHaveCost(costUsd);
  });
});
