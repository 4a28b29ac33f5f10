/** The examples of policies through the built program: they hold, and a policy that is worse makes named expectations fail. */
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { tempDir } from '../helpers/temp-dir.ts';
import { parley, ROOT } from './parley-program.ts';

describe('examples/overnight', () => {
  it('holds', async () => {
    const { exitCode, stdout, stderr } = await parley(['simulate', 'examples/overnight/scenario.yaml'], {
      cwd: ROOT,
    });
    expect(stderr.replace(/^parley: .*\n/gm, '')).toBe('');
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('12 expectations held');
    expect(exitCode).toBe(0);
  });

  it('has expectations of all kinds', async () => {
    const args = ['simulate', 'examples/overnight/scenario.yaml', '--json'];
    const { stdout } = await parley(args, { cwd: ROOT });
    const records = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const kinds = records.filter(({ type }) => type === 'expectation').map(({ kind }) => kind);
    expect(new Set(kinds)).toEqual(new Set(['at', 'always', 'never', 'eventually', 'end']));
  });

  it('fails by name and place with an Idle Time of 5 minutes', async () => {
    const cwd = tempDir();
    cpSync(path.join(ROOT, 'examples/overnight'), cwd, { recursive: true });
    const file = path.join(cwd, 'scenario.yaml');
    const text = readFileSync(file, 'utf8');
    writeFileSync(file, text.replace('idle_time: 20m', 'idle_time: 5m'));
    const { exitCode, stdout } = await parley(['simulate', 'scenario.yaml'], { cwd });
    expect(exitCode).toBe(8);
    const line =
      text
        .split('\n')
        .findIndex((one) => one.includes("never: convs.exists(c, c.repo.startsWith('reviewers/')")) + 1;
    expect(stdout).toContain(
      `scenario.yaml:${line}:12: error: no review is paused for idleness: never: convs.exists(`,
    );
    expect(stdout).toContain(
      `   ${line} |     never: convs.exists(c, c.repo.startsWith('reviewers/') && c.pause_reason == 'idle')`,
    );
    expect(stdout).toMatch(/ is \["review\/\w+"\]\n/);
    expect(stdout).toContain(': error: only the two long ones were interrupted: end: ');
    expect(stdout).toMatch(/\d of 12 expectations failed\n$/);
  });
});

describe('examples/policy-tests', () => {
  it('holds, as TAP', async () => {
    const { exitCode, stdout } = await parley(['test', 'examples/policy-tests'], { cwd: ROOT });
    expect(stdout).toBe(
      [
        'TAP version 14',
        '1..2',
        'ok 1 - examples/policy-tests/capacity.scenario.yaml: capacity (seed 1)',
        'ok 2 - examples/policy-tests/idle.scenario.yaml: idle-time (seed 1)',
        '',
      ].join('\n'),
    );
    expect(exitCode).toBe(0);
  });
});
