/** Tests of a policy on Temporal: unchanged, in both forms, with what a real server adds and takes away. */
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { createWorld, parleyMatchers, type WorldOptions } from '../../testing/index.ts';
import { parley, ROOT } from '../cli/parley-program.ts';
import { describeWith } from '../helpers/requires.ts';
import { tempDir } from '../helpers/temp-dir.ts';

expect.extend(parleyMatchers);

/** Real servers start here, on a machine that is busy with other tests. */
const PATIENCE = { timeout: 240_000 } as const;

function open(options: WorldOptions = {}) {
  const world = createWorld({ engine: 'temporal', ...options });
  onTestFinished(() => world.close());
  return world;
}

/** What a conversation, its sandbox and its item were, at every poll. */
function life(world: ReturnType<typeof createWorld>): unknown[] {
  const seen: unknown[] = [];
  const first = world.start({ name: 'first', repo: 'acme/core' });
  const poll = (): void => {
    const { startTask, status, pauseReason, executionStatus, outcome, queued } = first;
    seen.push({ startTask, status, pauseReason, executionStatus, outcome, queued });
  };
  poll();
  world.at('3m', () => first.sandbox.pause());
  for (const time of ['1m', '3m', '1m']) {
    world.advance(time);
    poll();
  }
  first.send('more');
  poll();
  world.advance('12h5m');
  poll();
  world.advance('11d');
  poll();
  return seen;
}

describeWith('temporal-test-server', 'a world on Temporal', () => {
  it('lives the same life as on the simulator', PATIENCE, () => {
    const options = { models: { agent: { work: '13h' } } } as const;
    const seen = life(createWorld(options));
    expect(life(open(options))).toEqual(seen);
    expect(seen.at(-1)).toMatchObject({ status: 'MISSING' });
  });

  it('runs a job, and says what an item cost', PATIENCE, () => {
    const job = `kind: job
version: 1
name: two
defaults: { model: coder }
conversations:
  - { id: first, prompt: Do the first thing. }
  - { id: second, prompt: Do the second thing. }
`;
    const played = [createWorld(), open()].map((world) => {
      const run = world.run(job);
      world.advance('2h');
      return [run.phase, ...run.items.map(({ outcome }) => outcome)];
    });
    expect(played[1]).toEqual(played[0]);
  });

  it('says in a failed expectation what happened, with the times of the play', PATIENCE, () => {
    const world = open({ models: { agent: { work: '1h' } } });
    const conversation = world.start({ name: 'first' });
    world.advance('10m');
    expect(() => expect(conversation).toBePaused()).toThrow(
      /the conversation "first" to be PAUSED; it is RUNNING\nafter 10m; its last events:\n +\d+/,
    );
  });

  it('gives up a world that takes too long, and opens the next', PATIENCE, () => {
    const startMany = (): void => {
      const late = open({ wallLimit: '1s' });
      for (let count = 0; count < 1_000; count += 1) late.start({ name: `${count}` });
    };
    expect(startMany).toThrow('Cannot play on Temporal: it takes more than 1 s of real time');
    const world = open();
    world.advance('1h');
    expect(world.elapsed).toBe('1h');
  });

  it('keeps two worlds open, and closes the oldest for a third', PATIENCE, () => {
    const [first, second] = [open(), open()];
    first.advance('1m');
    second.advance('1m');
    open();
    expect(() => first.start({ name: 'late' })).toThrow('Cannot go on: this world was closed');
    second.start({ name: 'in time' });
  });
});

describeWith('temporal-test-server', 'examples/policy-tests on Temporal', () => {
  it('hold as scenario files, in the same words', PATIENCE, async () => {
    const args = ['test', 'examples/policy-tests'];
    const simulated = await parley(args, { cwd: ROOT });
    const played = await parley([...args, '--engine', 'temporal'], { cwd: ROOT });
    expect(played.stdout).toBe(simulated.stdout);
    expect([simulated.exitCode, played.exitCode]).toEqual([0, 0]);
  });

  it('hold as TypeScript, unchanged', PATIENCE, async () => {
    const vitest = path.join(ROOT, 'node_modules/vitest/vitest.mjs');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [vitest, 'run', 'examples/policy-tests', '--testTimeout=120000', '--reporter=json'],
      { cwd: ROOT, env: { ...process.env, PARLEY_TESTING_ENGINE: 'temporal' } },
    );
    const report = JSON.parse(stdout.slice(stdout.indexOf('{'))) as Record<string, unknown>;
    expect(report).toMatchObject({ success: true, numPassedTests: 4, numFailedTests: 0 });
  });

  it('fail where they must, with the line, the values and the events', PATIENCE, async () => {
    const cwd = tempDir();
    for (const file of ['job.yaml', 'idle.scenario.yaml']) {
      const text = readFileSync(path.join(ROOT, 'examples/policy-tests', file), 'utf8');
      writeFileSync(path.join(cwd, file), text.replace('idle_time: 20m', 'idle_time: 30m'));
    }
    const { stdout, exitCode } = await parley(['test', '.', '--engine', 'temporal'], { cwd });
    expect(exitCode).toBe(8);
    expect(stdout).toContain('name: a longer one is');
    expect(stdout).toMatch(/after 31m, at 2026-01-01 00:31:00Z/);
  });

  it('are refused when they let faults strike', PATIENCE, async () => {
    const cwd = tempDir();
    for (const file of ['job.yaml', 'idle.scenario.yaml']) {
      const text = readFileSync(path.join(ROOT, 'examples/policy-tests', file), 'utf8');
      writeFileSync(
        path.join(cwd, file),
        file === 'job.yaml' ? text : `${text}\nfaults: { runtime_slow: 0.1 }\n`,
      );
    }
    const { stderr, exitCode } = await parley(['test', '.', '--engine', 'temporal'], { cwd });
    expect(stderr).toContain('on Temporal: it lets faults strike, which the simulator alone does');
    expect(exitCode).toBe(2);
  });
});
