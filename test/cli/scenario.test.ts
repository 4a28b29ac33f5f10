/** `parley simulate SCENARIO` and `parley test`: text, records, TAP, JUnit, exit codes, refusals. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { JOB } from './rows.ts';

const HEAD = `kind: scenario
version: 1
name: demo-night
job: job.yaml
clock: { until: 4h }
model:
  default: { duration: 30m, outcome: { FINISHED: 1 }, gaps: [], rate_limit: { share: 0, wait: 1m } }
`;
const HOLDS = `${HEAD}expect:
  - at: 10m
    that: by_key('first').status == 'RUNNING'
  - end: summary.succeeded == 2
`;
const FAILS = `${HEAD}expect:
  - name: quick enough
    at: 10m
    that: by_key('first').phase == 'ended'
    why: people wait for it
  - always: capacity.in_use <= 2
  - end: summary.cost_usd < 0.01
    level: warn
`;

function withFiles(files: Readonly<Record<string, string>>) {
  const cwd = tempDir();
  for (const [name, text] of Object.entries({ 'job.yaml': JOB, ...files })) {
    mkdirSync(path.dirname(path.join(cwd, name)), { recursive: true });
    writeFileSync(path.join(cwd, name), text);
  }
  return fakeShell({ cwd, env: {} });
}

describe('parley simulate SCENARIO', () => {
  it('shows the timeline, says that all held, and ends with 0', async () => {
    const shell = withFiles({ 's.yaml': HOLDS });
    expect(await runCli(['simulate', 's.yaml'], shell)).toBe(0);
    const lines = shell.stdout.text.trimEnd().split('\n');
    expect(lines[0]).toBe('demo-night: 2 conversations, simulated; finished');
    expect(lines.at(-1)).toBe('2 expectations held');
    expect(shell.stdout.text).not.toContain('error');
  });

  it('draws what failed with its place, time, values and last events, and ends with 8', async () => {
    const shell = withFiles({ 's.yaml': FAILS });
    expect(await runCli(['simulate', 's.yaml'], shell)).toBe(8);
    const text = shell.stdout.text.slice(shell.stdout.text.indexOf('s.yaml:'));
    expect(text.split('\n').slice(0, 7)).toEqual([
      "s.yaml:11:11: error: quick enough: at 10m: by_key('first').phase == 'ended'",
      "   11 |     that: by_key('first').phase == 'ended'",
      '      |           ^~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~',
      '      = after 10m, at 2026-01-01 00:10:00Z',
      '      = why: people wait for it',
      '      = by_key(\'first\').phase is "working"',
      '      = last events:',
    ]);
    expect(text).toMatch(/= {3}\d+s (conversation|sandbox)\/[0-9a-f]{8} \w+/);
    expect(text).toMatch(/s\.yaml:14:10: warning: end: summary\.cost_usd < 0\.01\n/);
    expect(text.trimEnd().split('\n').at(-1)).toBe('1 of 3 expectations failed, 1 only warned');
  });

  it('prints records, a trace, a page, and takes another seed and time', async () => {
    const shell = withFiles({ 's.yaml': FAILS });
    const files = ['--trace', 't.jsonl', '--html', 'p.html'];
    expect(
      await runCli(['simulate', 's.yaml', '--json', '--seed', '9', '--until', '2h', ...files], shell),
    ).toBe(8);
    const records = recordsOf(shell);
    const expectations = records.filter(({ type }) => type === 'expectation');
    expect(expectations.map(({ kind, held, level }) => [kind, held, level])).toEqual([
      ['at', false, 'error'],
      ['always', true, 'error'],
      ['end', false, 'warning'],
    ]);
    expect(expectations[0]).toMatchObject({
      file: 's.yaml',
      line: 11,
      column: 11,
      seed: 9,
      at_ms: 600_000,
      reason: null,
    });
    expect(expectations[0]?.['values']).toEqual([{ source: "by_key('first').phase", value: '"working"' }]);
    expect(expectations[0]?.['events']).toHaveLength(5);
    expect(expectations[2]).toMatchObject({ at_ms: 7_200_000 });
    const simulation = records.find(({ type }) => type === 'simulation');
    const last = readFileSync(path.join(shell.cwd, 't.jsonl'), 'utf8').trimEnd().split('\n').at(-1);
    expect(simulation).toMatchObject({ seed: 9, hash: (JSON.parse(last ?? '') as { hash: string }).hash });
    expect(readFileSync(path.join(shell.cwd, 'p.html'), 'utf8')).toContain(
      '<title>demo-night: simulated</title>',
    );
  });

  it('says which events found nobody, and ends with 1 when the file or its job has errors', async () => {
    const late = withFiles({ 's.yaml': `${HOLDS}events:\n  - { at: 3h, sandbox: crash, pick: oldest }\n` });
    expect(await runCli(['simulate', 's.yaml'], late)).toBe(0);
    expect(late.stderr.text).toContain('s.yaml:13:5: warning: nobody was there for this event');
    const bad = withFiles({ 's.yaml': HOLDS.replace('by_key', 'by_keys') });
    expect(await runCli(['simulate', 's.yaml'], bad)).toBe(1);
    expect(bad.stderr.text).toContain('s.yaml:10:11: error SCN');
    const badJob = withFiles({ 's.yaml': HOLDS, 'job.yaml': JOB.replace('id: second', 'id: first') });
    expect(await runCli(['simulate', 's.yaml'], badJob)).toBe(1);
    expect(badJob.stderr.text).toMatch(/job\.yaml:\d+:\d+: error JOB/);
    const lost = withFiles({ 's.yaml': HOLDS.replace('job.yaml', 'no.yaml') });
    expect(await runCli(['simulate', 's.yaml'], lost)).toBe(1);
  });
});

describe('parley test', () => {
  const files = {
    'p/a.scenario.yaml': HOLDS.replace('job.yaml', '../job.yaml'),
    'p/deep/b.yaml': FAILS.replace('job.yaml', '../../job.yaml'),
    'p/.hidden/c.scenario.yaml': 'kind: scenario\n',
    'p/node_modules/d.scenario.yaml': 'kind: scenario\n',
    'p/job.yaml': JOB,
  };

  it('plays every scenario below a folder, and prints TAP', async () => {
    const shell = withFiles(files);
    expect(await runCli(['test', 'p'], shell)).toBe(8);
    const lines = shell.stdout.text.split('\n');
    expect(lines.slice(0, 6)).toEqual([
      'TAP version 14',
      '1..2',
      'ok 1 - p/a.scenario.yaml: demo-night (seed 1)',
      'not ok 2 - p/deep/b.yaml: demo-night (seed 1)',
      '  ---',
      '  message: 1 of 3 expectations failed, 1 only warned',
    ]);
    expect(lines).toContain('    - name: quick enough');
    expect(lines.at(-2)).toBe('  ...');
    expect(shell.stderr.text).toContain('p/a.scenario.yaml: seed 1: 2 expectations held\n');
  });

  it('plays each under several seeds, and only what the filter leaves', async () => {
    const shell = withFiles(files);
    expect(await runCli(['test', 'p', '--seeds', '3', '--seed', '5', '--filter', 'a.scen'], shell)).toBe(0);
    const points = shell.stdout.text.split('\n').filter((line) => line.includes('ok '));
    expect(points.map((line) => line.slice(-8))).toEqual(['(seed 5)', '(seed 6)', '(seed 7)']);
    const byName = withFiles(files);
    expect(await runCli(['test', 'p', '--filter', 'demo-night'], byName)).toBe(8);
  });

  it('writes JUnit XML, and records', async () => {
    const shell = withFiles({ ...files, 'p/x.scenario.yaml': 'kind: scenario\nversion: 1\n' });
    expect(await runCli(['test', 'p', '--json', '--junit', 'out.xml'], shell)).toBe(1);
    const xml = readFileSync(path.join(shell.cwd, 'out.xml'), 'utf8');
    expect(xml).toContain(
      '<testsuite name="p/deep/b.yaml: demo-night (seed 1)" tests="3" failures="1" errors="0" skipped="0">',
    );
    expect(xml).toContain("<failure message=\"by_key('first').phase == 'ended'\">after 10m, at");
    expect(xml).toContain('<testcase name="always: capacity.in_use &lt;= 2" classname="p/deep/b.yaml"/>');
    expect(xml).toContain('<failure message="the file has errors">');
    expect(xml.match(/<\/testsuite>/g)).toHaveLength(3);
    const scenarios = recordsOf(shell).filter(({ type }) => type === 'scenario');
    expect(scenarios.map(({ file, held, failed }) => [file, held, failed])).toEqual([
      ['p/a.scenario.yaml', true, 0],
      ['p/deep/b.yaml', false, 1],
      ['p/x.scenario.yaml', false, undefined],
    ]);
  });

  it('ends with 1 for a bad file whatever the others say, and with 2 when nothing is found', async () => {
    const bad = withFiles({ ...files, 'p/x.scenario.yaml': 'kind: scenario\nversion: 1\n' });
    expect(await runCli(['test', 'p'], bad)).toBe(1);
    expect(bad.stdout.text).toContain(
      'not ok 3 - p/x.scenario.yaml\n  ---\n  message: the scenario has errors\n  ...\n',
    );
    const named = withFiles(files);
    expect(await runCli(['test', 'p/a.scenario.yaml', 'p/deep/b.yaml', 'p'], named)).toBe(8);
    expect(named.stdout.text).toContain('1..2\n');
    const none = withFiles({ 'p/job.yaml': JOB });
    expect(await runCli(['test', 'p'], none)).toBe(2);
    expect(none.stderr.text).toContain('Cannot test: there is no scenario in "p"');
    const filtered = withFiles(files);
    expect(await runCli(['test', 'p', '--filter', 'zzz'], filtered)).toBe(2);
    expect(filtered.stderr.text).toContain('whose path or name contains "zzz"');
    expect(await runCli(['test', 'q'], withFiles(files))).toBe(2);
    expect(await runCli(['test', 'p', '--seeds', '0'], withFiles(files))).toBe(2);
  });

  it('says nothing of what the filter leaves out, and ends with 2 when a report cannot be written', async () => {
    const broken = { ...files, 'p/x.scenario.yaml': 'kind: scenario\nversion: 1\n' };
    const shell = withFiles(broken);
    expect(await runCli(['test', 'p', '--filter', 'a.scen'], shell)).toBe(0);
    expect(shell.stderr.text).not.toContain('x.scenario.yaml');
    const kept = withFiles(broken);
    expect(await runCli(['test', 'p', '--filter', 'x.scen'], kept)).toBe(1);
    expect(kept.stderr.text).toContain('p/x.scenario.yaml:1:1: error JOB202');
    const unwritable = withFiles(files);
    expect(await runCli(['test', 'p/a.scenario.yaml', '--junit', 'no/out.xml'], unwritable)).toBe(2);
    expect(unwritable.stderr.text).toContain('Cannot write the JUnit report to "no/out.xml"');
  });
});

describe('parley validate SCENARIO', () => {
  it('compiles it with its job, and ends with 0', async () => {
    const shell = withFiles({ 's.yaml': HOLDS });
    expect(await runCli(['validate', 's.yaml'], shell)).toBe(0);
    expect(shell.stdout.text).toBe('s.yaml: ok, 2 conversations\n');
  });

  it('names the file that each finding is in, and ends with 1', async () => {
    const bad = withFiles({ 's.yaml': HOLDS.replace('clock:', 'clok:') });
    expect(await runCli(['validate', 's.yaml'], bad)).toBe(1);
    expect(bad.stdout.text).toContain('s.yaml:5:1: error JOB201: unknown key "clok"');
    const badJob = withFiles({ 's.yaml': HOLDS, 'job.yaml': JOB.replace('id: second', 'id: first') });
    expect(await runCli(['validate', 's.yaml'], badJob)).toBe(1);
    expect(badJob.stdout.text).toMatch(/^job\.yaml:\d+:\d+: error JOB/);
  });

  it('says whether its job is missing or a folder', async () => {
    const lost = withFiles({ 's.yaml': HOLDS.replace('job.yaml', 'no.yaml') });
    expect(await runCli(['validate', 's.yaml'], lost)).toBe(1);
    expect(lost.stdout.text).toContain('error JOB303: the job file "no.yaml" does not exist');
    const folder = withFiles({ 's.yaml': HOLDS.replace('job.yaml', 'jobs'), 'jobs/job.yaml': JOB });
    expect(await runCli(['validate', 's.yaml'], folder)).toBe(1);
    expect(folder.stdout.text).toContain('error JOB305: the job file "jobs" is a folder');
  });
});
