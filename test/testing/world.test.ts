/** `parley/testing`: what a test can let happen in a world, and what it can read. */
import { describe, expect, it } from 'vitest';
import { createWorld, type WorldOptions } from '../../testing/index.ts';
import { plan } from '../conformance/script-parts.ts';

const JOB = `kind: job
version: 1
name: two
defaults: { model: coder }
conversations:
  - { id: first, prompt: Do the first thing. }
  - { id: second, prompt: Do the second thing. }
`;

/** A conversation at work, a minute after its start. */
function working(options: WorldOptions = {}) {
  const world = createWorld({ models: { agent: { work: '13h' } }, ...options });
  const conversation = world.start({ name: 'first', repo: 'acme/core', tags: { team: 'a' } });
  world.advance('1m');
  return { world, conversation };
}

describe('createWorld()', () => {
  it('starts a conversation that is placed, booted and at work as time goes on', () => {
    const world = createWorld();
    const conversation = world.start({ name: 'first' });
    expect(conversation.startTask).toBe('WORKING');
    expect(conversation.status).toBeNull();
    expect(() => conversation.sandbox).toThrow('Cannot find the sandbox of "first": it has none after 0s');
    world.advance('1m');
    expect(conversation.startTask).toBe('READY');
    expect([conversation.status, conversation.executionStatus]).toEqual(['RUNNING', 'RUNNING']);
    expect(conversation.sandbox).toMatchObject({
      status: 'RUNNING',
      generation: 1,
      conversations: 1,
      transition: null,
    });
    world.advance('20m');
    expect(conversation).toMatchObject({ executionStatus: 'FINISHED', outcome: 'FINISHED', costUsd: 1.425 });
  });

  it('pauses the idle after the Idle Time of its policy, and brings them back for a message', () => {
    const world = createWorld({
      policy: { idleTime: '5m' },
      models: { agent: { work: '10m' }, resume: '30s' },
    });
    const conversation = world.start({ name: 'first' });
    world.advance('16m');
    expect([conversation.status, conversation.pauseReason]).toEqual(['PAUSED', 'idle']);
    conversation.send('more');
    expect(conversation.queued).toBe(1);
    world.advance('1m');
    expect(conversation).toMatchObject({ status: 'RUNNING', queued: 0, executionStatus: 'RUNNING' });
    expect(conversation.sandbox.generation).toBe(2);
  });

  it('deletes what is released for the Deletion Time, and never when that is off', () => {
    const status = (deletionTime: string | null) => {
      const { world, conversation } = working({
        policy: { deletionTime },
        models: { agent: { work: '1m' } },
      });
      world.advance('3d');
      return conversation.status;
    };
    expect(status('2d')).toBe('MISSING');
    expect(status('4d')).toBe('PAUSED');
    expect(status(null)).toBe('PAUSED');
  });

  it('lets people and the world act on a sandbox', () => {
    const { world, conversation } = working();
    const { sandbox } = conversation;
    sandbox.pause();
    expect(sandbox.transition).toBe('pausing');
    world.advance('1m');
    expect([sandbox.status, sandbox.pauseReason]).toEqual(['PAUSED', 'user']);
    sandbox.resume();
    world.advance('1m');
    expect(sandbox.status).toBe('RUNNING');
    sandbox.disconnect();
    world.advance('1h');
    expect(sandbox.status).toBe('RUNNING');
    sandbox.reconnect();
    sandbox.crash();
    world.advance('1m');
    expect(sandbox.status).toBe('ERROR');
    sandbox.delete();
    world.advance('1m');
    expect(sandbox.status).toBe('MISSING');
    const other = working();
    other.conversation.sandbox.remove();
    other.world.advance('1m');
    expect(other.conversation.status).toBe('MISSING');
  });

  it('lets users interrupt, answer, look and delete', () => {
    const { world, conversation } = working({ models: { agent: { work: '1h', asks: true } } });
    world.advance('1h');
    expect(conversation).toMatchObject({
      executionStatus: 'WAITING_FOR_CONFIRMATION',
      pauseReason: 'confirmation',
    });
    conversation.confirm();
    world.advance('10s');
    expect(conversation.executionStatus).toBe('RUNNING');
    conversation.interrupt();
    world.advance('10s');
    expect(conversation.executionStatus).toBe('PAUSED');
    world.advance('1h');
    expect(conversation.pauseReason).toBe('idle');
    conversation.access();
    world.advance('1m');
    expect(conversation.status).toBe('RUNNING');
    conversation.delete();
    world.advance('5m');
    expect(conversation.status).toBe('MISSING');
  });

  it('places by the grouping of policy or start, and where it is told', () => {
    const { world, conversation } = working({ policy: { grouping: 'ADD_TO_ANY' } });
    const second = world.start({ name: 'second' });
    const alone = world.start({ name: 'alone', grouping: 'NO_GROUPING', message: null });
    const beside = world.start({ name: 'beside', grouping: 'NO_GROUPING', sandbox: conversation });
    world.advance('1m');
    expect(second.sandboxId).toBe(conversation.sandboxId);
    expect(beside.sandboxId).toBe(conversation.sandboxId);
    expect(alone.sandboxId).not.toBe(conversation.sandboxId);
    expect([conversation.sandbox.conversations, alone.executionStatus]).toEqual([3, 'IDLE']);
    const homeless = world.start({ name: 'new' });
    expect(() => world.start({ name: 'next', sandbox: homeless })).toThrow('has no sandbox yet');
    expect(() => world.start({ name: 'new' })).toThrow('there is a conversation of that name');
  });

  it('refuses, or queues, when all slots are taken', () => {
    const start = (onFull: 'refuse' | 'queue') => {
      const world = createWorld({ policy: { sandboxes: 1, onFull, idleTime: '5m' } });
      world.start({ name: 'first' });
      const second = world.start({ name: 'second' });
      world.advance('1h');
      return second.startTask;
    };
    expect(start('refuse')).toBe('ERROR');
    expect(start('queue')).toBe('READY');
  });

  it('plays agents by name, with gaps that only a lease keeps awake', () => {
    const gaps = (leased: boolean) => [{ at: '5m', length: '25m', leased }];
    const world = createWorld({
      models: {
        agents: { 'idle-*': { gaps: gaps(false) }, 'leased-*': { gaps: gaps(true), outcome: 'STUCK' } },
      },
    });
    const [idle, leased] = [world.start({ name: 'idle-1' }), world.start({ name: 'leased-1' })];
    world.advance('27m');
    expect([idle.pauseReason, leased.status]).toEqual(['idle', 'RUNNING']);
    world.advance('1h');
    expect([idle.outcome, leased.outcome]).toEqual([null, 'STUCK']);
  });

  it('runs a plan or a job, and tells of its items', () => {
    const world = createWorld();
    const run = world.run(JOB);
    expect(run.items.map(({ key, phase }) => [key, phase])).toEqual([
      ['first', 'starting'],
      ['second', 'starting'],
    ]);
    expect(run.item('first').conversation).toBeNull();
    world.advance('10m');
    expect(run.item('first').conversation).toMatchObject({ status: 'RUNNING' });
    world.advance('1d');
    expect(run).toMatchObject({ phase: 'finished', mode: 'normal', reason: null, costUsd: 2.85 });
    expect(run.item('first')).toMatchObject({
      outcome: 'succeeded',
      attempts: 1,
      costUsd: 1.425,
      status: 'MISSING',
    });
    const cancelled = world.run(plan(1));
    world.advance('5m');
    cancelled.cancel();
    world.advance('1h');
    expect(cancelled.items[0]?.outcome).toBe('cancelled');
    expect(() => run.item('third')).toThrow('Cannot find "third": the plan has no item of that key');
    expect(() => world.run('kind: job\n')).toThrow(/^Cannot run the job: it has errors\njob.yaml:1:/);
  });

  it('acts at an instant, after everything else of it', () => {
    const { world, conversation } = working();
    world.at('2h', () => conversation.sandbox.pause());
    world.advanceTo('2h');
    expect([world.elapsed, world.elapsedMs, conversation.sandbox.transition]).toEqual([
      '2h',
      7_200_000,
      'pausing',
    ]);
    expect(() => world.at('1h', () => undefined)).toThrow('Cannot act at "1h": 2h have passed');
    expect(() => world.advanceTo('1h')).toThrow('Cannot go back to "1h": 2h have passed');
    expect(() => world.advance('soon')).toThrow('Cannot use the time "soon"');
  });

  it('leaves to the seed what is left to chance', () => {
    const ends = (seed: number) => {
      const models = { boot: { min: '1s', max: '1m' }, agent: { work: { p50: '10m', p95: '2h' } } };
      const { world, conversation } = working({ models, seed });
      world.advance('10m');
      return [conversation.executionStatus, conversation.costUsd];
    };
    expect(ends(3)).toEqual(ends(3));
    expect(new Set([1, 2, 3, 4, 5].map((seed) => JSON.stringify(ends(seed)))).size).toBeGreaterThan(1);
  });
});
