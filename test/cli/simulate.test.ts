/** `parley simulate`: text that fits the terminal, records, files, many plays, and refusals. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { applyChanges } from '../../cli/simulate/change.ts';
import { CHANGEABLE_KEYS } from '../../cli/simulate/changeable-keys.ts';
import { saysScenario } from '../../cli/simulate/document-kind.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell, recordsOf } from './fake-shell.ts';
import { POLICY } from '../conformance/script-parts.ts';
import { demoPlan, JOB } from './rows.ts';

const FIVE = JOB.replace(/conversations:[^]*?report:/, (list) =>
  [
    'conversations:',
    '  - { id: task, matrix: { n: [1, 2, 3, 4, 5] }, prompt: "Do ${{ matrix.n }}." }',
    list.slice(list.lastIndexOf('report:')),
  ].join('\n'),
);

function withJob(text = JOB, env: Readonly<Record<string, string>> = {}) {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), text);
  return fakeShell({ cwd, env });
}

async function simulated(args: readonly string[], text = JOB): Promise<ReturnType<typeof fakeShell>> {
  const shell = withJob(text);
  expect(await runCli(['simulate', 'job.yaml', ...args], shell), shell.stderr.text).toBe(0);
  return shell;
}

async function refused(args: readonly string[]): Promise<string> {
  const shell = withJob();
  expect(await runCli(['simulate', 'job.yaml', ...args], shell)).toBe(2);
  return shell.stderr.text;
}

describe('parley simulate', () => {
  it('draws, counts and prices, the same every time', async () => {
    const shell = await simulated([]);
    const lines = shell.stdout.text.split('\n');
    expect(lines[0]).toBe('demo: 2 conversations, simulated; finished');
    expect(lines[2]).toMatch(/^ {8}0 +\S+ +\S+$/);
    expect(lines[3]).toMatch(/^first {3}s*#+$/);
    expect(lines[5]).toBe('. queued   s starting   # working   - paused');
    // Figures move with the rules and the models; what they are is tested where they are made.
    expect(lines.slice(7, -1).map((line) => line.split(/:|(?<=steps|met)\b/)[0])).toEqual([
      'makespan',
      'conversation times',
      'queued',
      'ended',
      'cost',
      'sandboxes at once',
      'limits met',
      'steps',
    ]);
    expect(lines[12]).toMatch(/^sandboxes at once: 2 at most, of 10 allowed, first after \d+s$/);
    expect(Math.max(...shell.stdout.text.split('\n').map((line) => line.length))).toBeLessThanOrEqual(100);
    expect((await simulated([])).stdout.text).toBe(shell.stdout.text);
  });

  it('prints records with curves, and writes a trace whose last hash is the answer', async () => {
    const args = ['--seed', '3', '--until', '2d', '--json', '--trace', 't.jsonl'];
    const shell = await simulated(args);
    const records = recordsOf(shell);
    const types = ['hello', 'simulated', 'simulated', 'curve', 'curve', 'curve', 'simulation'];
    expect(records.map(({ type }) => type)).toEqual(types);
    const [slots, cost, activities] = records.slice(3, 6);
    expect(slots).toMatchObject({ name: 'slots', max: 10 });
    const held = (slots?.['points'] as { value: number }[]).map(({ value }) => value);
    expect([held[0], Math.max(...held), held.at(-1)]).toEqual([0, records.at(-1)?.['sandboxes_peak'], 0]);
    expect(cost).toMatchObject({ name: 'cost_nano_usd' });
    expect((cost?.['points'] as { value: number }[]).at(-1)?.value).toBe(records.at(-1)?.['cost_nano_usd']);
    expect((activities?.['points'] as object[]).at(-1)).toMatchObject({ ended: 2, working: 0 });
    const lines = readFileSync(path.join(shell.cwd, 't.jsonl'), 'utf8').trimEnd().split('\n');
    const last = JSON.parse(lines.at(-1) ?? '') as { hash: string };
    expect(records.at(-1)).toMatchObject({
      seed: 3,
      hash: last.hash,
      steps: lines.length,
      sandboxes_max: 10,
    });
  });

  it('writes a page beside the text, which stays the same', async () => {
    const shell = await simulated(['--html', 'page.html']);
    expect(shell.stdout.text).toBe((await simulated([])).stdout.text);
    expect(shell.stderr.text).toContain('page written to page.html');
    const html = readFileSync(path.join(shell.cwd, 'page.html'), 'utf8');
    expect(html).toMatch(/^<!doctype html>/);
    for (const id of ['gantt', 'capacity', 'cost', 'status']) expect(html).toContain(`<figure id="${id}"`);
  });

  it('refuses what it cannot use', async () => {
    for (const args of [
      ['--seed', 'x'],
      ['--seed', '-1'],
      ['--until', 'soon'],
      ['--until', '0s'],
      ['--trace', 'no/such/folder/t'],
      ['--html', 'no/such/folder/p'],
      ['--sweep', 'admission.concurrency=1', '--html', 'p.html'],
      ['--sweep', 'admission.concurrency=1', '--what-if', 'admission.concurrency=1'],
      ['--seeds', '3'],
      ['--sweep', 'admission.concurrency=1', '--seeds', '0'],
      ['--out', 'r.json'],
      ['--record', 'a', '--replay', 'b'],
    ])
      expect(await refused(args)).toMatch(/^parley: Cannot /);
    const shell = withJob('kind: job\n');
    expect(await runCli(['simulate', 'job.yaml'], shell)).toBe(1);
    const none = withJob();
    expect(await runCli(['simulate'], none)).toBe(2);
    expect(none.stderr.text).toContain('no file is named');
  });
});

describe('parley simulate --sweep', () => {
  it('has a row for every combination, the last key moving fastest', async () => {
    const args = ['--sweep', 'limits.idle_time=300,1200', '--sweep', 'admission.concurrency=1,5'];
    const { stdout } = await simulated([...args, '--seeds', '3'], FIVE);
    const rows = stdout.text
      .split('\n')
      .slice(1, 5)
      .map((line) => line.trim().split(/\s+/));
    expect(rows.map((row) => row.slice(0, 2))).toEqual([
      ['300', '1'],
      ['300', '5'],
      ['1200', '1'],
      ['1200', '5'],
    ]);
    expect(stdout.text).toMatch(
      /^limits.idle_time +admission.concurrency +success +makespan +cost +sandboxes/,
    );
    expect(stdout.text).toContain('p50 / p95 / max over 3 seeds from 1 on');
    const again = await simulated([...args, '--seeds', '3'], FIVE);
    expect(again.stdout.text).toBe(stdout.text);
  });

  it('prints records whose figures are those of single plays', async () => {
    const args = ['--sweep', 'admission.concurrency=1,5', '--seeds', '3', '--seed', '4', '--json'];
    const rows = recordsOf(await simulated(args, FIVE)).slice(1);
    expect(rows.map(({ changes }) => changes)).toEqual([
      { 'admission.concurrency': 1 },
      { 'admission.concurrency': 5 },
    ]);
    const single = FIVE.replace('report:', 'admission: { concurrency: 1 }\nreport:');
    const makespans = [];
    for (const seed of ['4', '5', '6'])
      makespans.push(recordsOf(await simulated(['--json', '--seed', seed], single)).at(-1)?.['makespan_ms']);
    const [low, middle, high] = (makespans as number[]).sort((a, b) => a - b);
    expect(low).toBeLessThan(high ?? 0);
    expect(rows[0]).toMatchObject({
      type: 'sweep',
      plays: 3,
      makespan_ms: { p50: middle, p95: high, max: high },
    });
  });

  it('says that plays have not ended where time is up', async () => {
    const args = ['--sweep', 'admission.concurrency=1', '--until', '10s'];
    expect((await simulated(args)).stdout.text).toContain('not ended / not ended / not ended');
    const [, row] = recordsOf(await simulated([...args, '--json']));
    expect(row).toMatchObject({ makespan_ms: { p50: null, p95: null, max: null }, success_share: 0 });
  });

  it.each([
    ['limits.idle_tme=1', 'did you mean "limits.idle_time"?'],
    ['colour=red', 'keys: limits.idle_time, limits.deletion_time, '],
    ['limits.session=3600', 'a session lasts at most 12 hours, and that is a constant of the platform (D10)'],
    ['limits.idle_time=5m', 'it is a whole number from 0 to 31622400; seconds without activity'],
    ['capacity.on_full=explode', 'it is one of refuse, queue, pause_longest_idle'],
    ['placement.strategy=', 'it is one of no_grouping'],
    ['admission.concurrency=0', 'it is a whole number from 1 to 10000'],
    ['wait.deadline=soon', 'time from admission; none of it counts in which the machine was suspended'],
    ['budget.mode=audit', 'the job has no budget'],
    ['admission.concurrency', 'it is not KEY=A,B,C'],
  ])('refuses %s', async (sweep, message) => {
    expect(await refused(['--sweep', sweep])).toContain(message);
  });

  it('tells on standard error how far it is when it takes long', async () => {
    const shell = withJob();
    let now = 0;
    const slow = { ...shell, clock: { ...shell.clock, now: () => (now += 1_500) } };
    const args = ['simulate', 'job.yaml', '--sweep', 'admission.concurrency=1,2', '--seeds', '2'];
    expect(await runCli(args, slow)).toBe(0);
    expect(shell.stderr.text).toBe('2 of 4 played\n');
  });

  it('gives a changed plan a hash of its own, and a changed policy none', () => {
    const plan = demoPlan();
    const changed = applyChanges({ plan, policy: POLICY }, [{ key: 'admission.concurrency', value: 3 }]);
    expect(changed.plan.admission.concurrency).toBe(3);
    expect(changed.plan.hash).not.toBe(plan.hash);
    const policy = applyChanges({ plan, policy: POLICY }, [{ key: 'limits.idle_time', value: 0 }]);
    expect(policy.plan).toBe(plan);
    expect(policy.policy.limits.idleTimeMs).toBeNull();
  });

  it('refuses more rows than anybody reads', async () => {
    const values = Array.from({ length: 15 }, (_, at) => at + 1).join(',');
    const args = ['--sweep', `limits.idle_time=${values}`, '--sweep', `admission.concurrency=${values}`];
    expect(await refused(args)).toContain('Cannot sweep 225 combinations: there may be 200');
    const seeds = ['--sweep', `limits.idle_time=${values},16,17,18,19,20,21`, '--seeds', '1000'];
    expect(await refused(seeds)).toContain('Cannot play 21000 simulations');
  });

  it('takes every key it lists', async () => {
    const values: Readonly<Record<string, string>> = {
      'capacity.on_full': 'queue',
      'user.grouping': 'add_to_any',
      'budget.usd': '2.50',
      'budget.reserve': '0.10',
      'budget.mode': 'observe',
      'placement.strategy': 'add_to_any',
      'wait.deadline': 'none',
      'wait.no_progress': '20m',
      'wait.on_session_limit': 'stop',
      'cleanup.sandbox': 'keep',
      'cleanup.conversation': 'delete',
      'cleanup.on_collect_failure': 'delete',
    };
    const job = JOB.replace('report:', 'budget: { usd: 5 }\nreport:');
    const args = [...CHANGEABLE_KEYS.keys()].flatMap((key) => ['--what-if', `${key}=${values[key] ?? '7'}`]);
    const record = recordsOf(await simulated([...args, '--json'], job)).at(-1);
    expect(Object.keys(record?.['changes'] as object)).toEqual([...CHANGEABLE_KEYS.keys()]);
  });
});

describe('parley simulate --what-if', () => {
  it('shows both sides, the difference, and who fares otherwise', async () => {
    const { stdout } = await simulated(['--what-if', 'capacity.sandboxes=1'], FIVE);
    const lines = stdout.text.split('\n');
    expect(lines[0]).toBe('demo: what if capacity.sandboxes=1');
    expect(lines[3]).toMatch(/^figure +as it is +what if +difference$/);
    expect(lines.find((line) => line.startsWith('sandboxes'))).toMatch(/^sandboxes +5 +1 +-4$/);
    expect(stdout.text).toMatch(/\n {2}task\/\d: (succeeded -> failed, )?\+capacity\n/);
    const same = await simulated(['--what-if', 'limits.deletion_time=864000'], FIVE);
    expect(same.stdout.text).toContain('no conversation fares otherwise');
  });

  it('compares under every seed, and prints records', async () => {
    const args = ['--what-if', 'capacity.sandboxes=1', '--what-if', 'capacity.on_full=queue', '--seeds', '4'];
    const records = recordsOf(await simulated([...args, '--json'], FIVE));
    expect(records.at(-1)).toMatchObject({
      type: 'what_if',
      changes: { 'capacity.sandboxes': 1, 'capacity.on_full': 'queue' },
      before: { plays: 4, sandboxes_peak: { max: 5 } },
      after: { plays: 4, sandboxes_peak: { max: 1 } },
    });
    const changed = records.filter(({ type }) => type === 'changed');
    expect(changed.every(({ seeds }) => Number(seeds) >= 1 && Number(seeds) <= 4)).toBe(true);
  });
});

describe('a scenario', () => {
  it.each([
    ['kind: scenario\nversion: 1\n', true],
    ['# a comment\nversion: 1\nkind: "scenario" # yes\n', true],
    ['\ufeffkind: scenario\r\nversion: 1\r\n', true],
    ["{ 'kind': 'scenario', version: 1 }", true],
    ['kind: job\nname: scenario\n', false],
    ['kind: job\ndescription: |\n  kind: scenario\n', false],
    ['kind: job\nlabels:\n  kind: scenario\n', false],
    ['', false],
  ])('is told from a job: %j', (text, expected) => {
    expect(saysScenario(text)).toBe(expected);
  });

  it('takes no flags of jobs', async () => {
    const shell = withJob('kind: scenario\nversion: 1\n');
    expect(await runCli(['simulate', 'job.yaml', '--seeds', '2'], shell)).toBe(2);
    expect(shell.stderr.text).toContain('Cannot use --seeds with a scenario');
  });
});
