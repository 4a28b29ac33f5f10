/** `parley campaign`: one case, a few cases here and in processes, Ctrl-C, refusals, and what is printed of each. */
import { describe, expect, it } from 'vitest';
import { Campaign } from '../../cli/campaign/campaign.ts';
import { runCli } from '../../cli/program.ts';
import { FAULT_NAMES } from '../../simulator/faults/catalogue.ts';
import { runCase } from '../../simulator/campaign/run-case.ts';
import { summaryOf } from '../../simulator/campaign/tally.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { parley } from './parley-program.ts';

const shellIn = () => fakeShell({ cwd: tempDir(), env: {} });

describe('parley campaign', () => {
  it('plays one case, as text with its events and as a record', async () => {
    const expected = runCase({ seed: 2 });
    const shell = shellIn();
    expect(await runCli(['campaign', '--seed', '2', '--table'], shell)).toBe(0);
    const lines = shell.stdout.text.split('\n');
    expect(lines[0]).toBe('seed 2, version 1.2.3');
    expect(lines).toContain(`hash: ${expected.hash}`);
    expect(lines).toContain('violations: 0');
    expect(shell.stdout.text).toMatch(/^0d 00:00:00\.000 {2}C1 +started +unborn > placing/m);
    const json = shellIn();
    expect(await runCli(['campaign', '--seed', '2', '--json'], json)).toBe(0);
    expect(recordsOf(json).at(-1)).toMatchObject({
      type: 'case',
      seed: 2,
      aim: null,
      hash: expected.hash,
      violations: [],
      events: expected.events,
    });
  });

  it('plays cases in this process and names every kind and pair', async () => {
    const shell = shellIn();
    expect(await runCli(['campaign', '--runs', '3', '--workers', '0', '--from', '2'], shell)).toBe(0);
    const { text } = shell.stdout;
    expect(text).toMatch(/^runs: 3 in /m);
    for (const fault of FAULT_NAMES) expect(text).toContain(`  ${fault} `);
    expect(text).toMatch(/^pairs of a transition and a class of fault: \d+ of \d+$/m);
    expect(text).toMatch(/^pairs that cannot be: [1-9]/m);
    expect(text).toMatch(/^played a second time: 1, /m);
    expect(text).toMatch(/^violations: 0$/m);
  });

  it('plays just the seeds that are asked for, in their order, when only their number is a bound', async () => {
    const played: number[] = [];
    const player = {
      play: async (seed: number) => {
        played.push(seed);
        return summaryOf(runCase({ seed }));
      },
      close: () => undefined,
    };
    const bounds = { from: 6, runsMax: 4, forMs: null, untilCovered: false };
    const clock = fakeShell({ cwd: tempDir(), env: {} }).clock;
    await new Campaign({ players: [player, player], clock, ...bounds, inOrder: true }).run();
    // The first is played a second time, to compare.
    expect(played.toSorted()).toEqual([6, 6, 7, 8, 9]);
  });

  it('ends after the present case on Ctrl-C, and says what was done', async () => {
    const shell = shellIn();
    const running = runCli(['campaign', '--workers', '0', '--json', '--from', '2'], shell);
    for (let waited = 0; waited < 2_000; waited += 1) {
      await new Promise((resolve) => setImmediate(resolve));
      shell.interrupt();
    }
    expect(await running).toBe(130);
    expect(recordsOf(shell).at(-1)).toMatchObject({ type: 'campaign', failed_seeds: [], unequal: [] });
  });

  it('refuses what it cannot use', async () => {
    for (const args of [
      ['--seed', 'x'],
      ['--runs', '0'],
      ['--minutes', '0'],
      ['--workers', '1000'],
      ['--from', '-1'],
      ['--seed', '2', '--shrunk'],
      ['--shrunk', '--runs', '1'],
      ['--table'],
      ['--seed', '2', '--runs', '3'],
    ])
      expect({ args, code: await runCli(['campaign', ...args], shellIn()) }).toEqual({ args, code: 2 });
  });

  it('plays in processes of their own, and gives the same there', async () => {
    const args = ['campaign', '--runs', '4', '--workers', '2', '--json', '--from', '2'];
    const { exitCode, stdout } = await parley(args, { cwd: tempDir() });
    expect(exitCode).toBe(0);
    const last = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Record<string, unknown>;
    expect(last).toMatchObject({ type: 'campaign', runs: 4, again: 1, unequal: [] });
  }, 600_000);
});
