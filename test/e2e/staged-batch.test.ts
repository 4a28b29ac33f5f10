/**
 * A real batch in which one conversation decides what the next ones do: it writes rows, each becomes a conversation with
 * values of its own, and who needs them waits for all. Also when the command is ended in the middle, and when no rows come.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openUpgradeBatch, recordsIn, type UpgradeBatch } from './upgrade-batch.ts';

const ALL_MS_MAX = 600_000;
const ROWS = ['{"name":"cart","lines":120}', '{"name":"icons","lines":9}', '{"name":"mail","lines":60}'];
const SCRIPT = `scripts:
  - name: planning
    when: { contains: 'List the modules' }
    turns:
      - tool: terminal
        arguments: { command: ${JSON.stringify(`printf '%s\n' '${ROWS.join("' '")}' > moves.jsonl`)} }
        usage: { prompt: 100, completion: 10 }
  - name: silent
    when: { contains: 'List nothing' }
    turns: [{ say: There is nothing., usage: { prompt: 100, completion: 10 } }]
  - name: moving
    when: { contains: 'Move ' }
    turns:
      - tool: terminal
        arguments: { command: 'echo moved > moved.txt' }
        usage: { prompt: 100, completion: 10 }
  - name: checking
    when: { contains: 'Look whether' }
    turns: [{ say: All of them were., usage: { prompt: 100, completion: 10 } }]
`;
const JOB = `kind: job
version: 1
name: staged
defaults: { model: fast }
conversations:
  - id: plan
    prompt: List the modules to be moved.
    collect: [{ files: [moves.jsonl] }]
  - id: move
    items: { from: plan, jsonl: moves.jsonl, where: item.lines > 50 }
    key: \${{ id }}/\${{ item.name }}
    prompt: Move \${{ item.name }}, \${{ item.lines }} lines of it.
    collect: [trajectory, { files: [moved.txt] }]
  - id: check
    needs: [move]
    prompt: Look whether every module was moved.
`;

const MEASURED = `kind: job
version: 1
name: measured
defaults: { model: fast }
conversations:
  - id: good
    prompt: Move a part of it.
    scores: [{ name: lines, command: wc -l < moved.txt, at_least: 1 }]
  - id: bad
    prompt: Move another part of it.
    scores:
      - { name: lines, command: wc -l < moved.txt, at_most: 0 }
      - { name: told, command: echo no number }
report: [{ to: report.md }, { to: report.jsonl }, { to: report.xml }]
`;

describe('a batch whose stages decide what comes next', () => {
  let batch: UpgradeBatch;
  const outcomes = async (run: string): Promise<Readonly<Record<string, unknown>>> => {
    const { stdout } = await batch.run(['status', run, '--json']);
    const items = recordsIn(stdout).filter(({ type }) => type === 'item');
    return Object.fromEntries(items.map(({ key, outcome }) => [String(key), outcome]));
  };
  const DONE = {
    plan: 'succeeded',
    move: 'not_needed',
    check: 'succeeded',
    'move/cart': 'succeeded',
    'move/mail': 'succeeded',
  };

  beforeAll(async () => {
    batch = await openUpgradeBatch({ repositories: 1, edits: [['gateway.yaml', 'scripts:\n', SCRIPT]] });
    writeFileSync(path.join(batch.copy.example, 'staged.yaml'), JOB);
  }, ALL_MS_MAX);
  afterAll(() => batch.close());

  it('shows before it runs that the number is not known', async () => {
    const plan = await batch.run(['plan', 'staged.yaml']);
    expect(plan.code, plan.stderr).toBe(0);
    expect(plan.stdout).toContain('one conversation for each row');
    const simulated = await batch.run(['simulate', 'staged.yaml']);
    expect(simulated.code, simulated.stderr).toBe(0);
    expect(simulated.stderr).toContain('left out: move, whose conversations are known once plan has ended');
  });

  it('makes a conversation of each row that counts, and has who needs them wait for all', async () => {
    const done = await batch.run(['run', 'staged.yaml', '--plain', '--run-id', 'a']);
    expect(done.code, `${done.stdout}${done.stderr}`).toBe(0);
    expect(`${done.stdout}${done.stderr}`).toContain('move: 2 conversations, from the rows that plan wrote');
    expect(await outcomes('a')).toEqual(DONE);
    const moved = path.join(batch.copy.resultsDir, 'a', 'move/cart', 'files/moved.txt');
    expect(readFileSync(moved, 'utf8')).toBe('moved\n');
    const { stdout } = await batch.run(['status', 'a', '--json']);
    const at = new Map(recordsIn(stdout).map((item) => [item['key'], item]));
    const began = Number(at.get('check')?.['admitted_at']);
    for (const key of ['move/cart', 'move/mail'])
      expect(began).toBeGreaterThanOrEqual(Number(at.get(key)?.['ended_at']));
  });

  it('goes on where the command was ended, with the file and without a word about changes', async () => {
    batch.freezeGateway();
    const first = batch.start(['run', 'staged.yaml', '--plain', '--run-id', 'b']);
    await expect.poll(async () => (await batch.run(['status', 'b'])).code, { timeout: ALL_MS_MAX }).toBe(0);
    first.kill();
    await first.ended;
    batch.thawGateway();
    const second = await batch.run(['resume', 'b', 'staged.yaml', '--plain']);
    expect(second.code, `${second.stdout}${second.stderr}`).toBe(0);
    expect(await outcomes('b')).toEqual(DONE);
    // It is known by then what the stage wrote: the job is as it was.
    const again = await batch.run(['run', 'staged.yaml', '--plain', '--run-id', 'b']);
    expect(again.code, `${again.stdout}${again.stderr}`).toBe(0);
  });

  it('cancels the place, and says why, where no rows can be had', async () => {
    const job = JOB.replace('List the modules to be moved', 'List nothing');
    writeFileSync(path.join(batch.copy.example, 'silent.yaml'), job);
    const done = await batch.run(['run', 'silent.yaml', '--plain', '--run-id', 'c']);
    expect(done.code).toBe(1);
    const said = `${done.stdout}${done.stderr}`;
    expect(said).toContain('plan has left no file "moves.jsonl" among its results');
    expect(said).toContain('cancelled: move; no rows can be had from plan');
    expect(await outcomes('c')).toEqual({ plan: 'succeeded', move: 'cancelled', check: 'skipped' });
  });

  it('is measured by commands in the sandbox, and has the numbers in every report', async () => {
    writeFileSync(path.join(batch.copy.example, 'measured.yaml'), MEASURED);
    const done = await batch.run(['run', 'measured.yaml', '--plain', '--run-id', 'm']);
    expect(done.code, `${done.stdout}${done.stderr}`).toBe(1);
    expect(await outcomes('m')).toEqual({ good: 'succeeded', bad: 'check_failed' });
    const file = (name: string): string => readFileSync(path.join(batch.copy.resultsDir, 'm', name), 'utf8');
    expect(JSON.parse(file('good/scores.json'))).toMatchObject({
      scores: [{ name: 'lines', value: 1, at_least: 1, problem: null }],
    });
    expect(file('report.md')).toMatch(/bad +\| +1 \(not good\) +\| +none \(not good\)/);
    const records = recordsIn(`{}\n${file('report.jsonl')}`);
    expect(records.find(({ key }) => key === 'bad')).toMatchObject({
      outcome: 'check_failed',
      scores: [
        { name: 'lines', value: 1, at_most: 0, problem: '1 is more than 0' },
        { name: 'told', value: null },
      ],
    });
    expect(file('report.xml')).toContain('<property name="lines" value="1"');
    const { stdout } = await batch.run(['status', 'm', '--json']);
    expect(recordsIn(stdout).find(({ key }) => key === 'bad')?.['detail']).toContain('1 is more than 0');
  });

  it('is no job for a service or a schedule', async () => {
    const served = await batch.run([
      'run',
      'staged.yaml',
      '--server',
      'http://127.0.0.1:1',
      '--api-key',
      'env:PATH',
    ]);
    expect(served.code).not.toBe(0);
    expect(served.stderr).toContain('Cannot hand the run to a service');
  });
});
