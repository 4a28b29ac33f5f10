/** `parley simulate --record` and `--replay` on a store of rows, as a run leaves them. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../cli/program.ts';
import { conversationId, runId, sandboxId } from '../../core/ids.ts';
import { nanoUsd } from '../../core/money/money.ts';
import { MINUTE_MS } from '../../core/time.ts';
import { openStore } from '../../store/open-store.ts';
import { conversationRow, sandboxRow, spendRow } from '../contract/store-rows.ts';
import { tempDir } from '../helpers/temp-dir.ts';
import { fakeShell, recordsOf, type FakeShell } from './fake-shell.ts';
import { demoPlan, FINISHED, itemRow, JOB, RUN, runRow, START, SUCCEEDED } from './rows.ts';

const PROMPT = 'Do the first thing.';
/** A page of spend rows and a little: more than one read brings. */
const CALLS = 1_003;

async function withRun(): Promise<FakeShell> {
  const cwd = tempDir();
  writeFileSync(path.join(cwd, 'job.yaml'), JOB);
  mkdirSync(path.join(cwd, '.parley'));
  const store = await openStore({ kind: 'sqlite', path: path.join(cwd, '.parley', 'parley.db') });
  const [one, other] = [conversationId('1'.repeat(32)), conversationId('2'.repeat(32))];
  const box = sandboxId('a'.repeat(32));
  const run = runId(RUN);
  await store.plans.putPlan(run, demoPlan());
  const rested = { executionStatusAt: START + 10 * MINUTE_MS, sandboxId: box, runId: run, createdAt: START };
  await store.records.project([
    runRow(FINISHED),
    itemRow('first', { ...SUCCEEDED, endedAt: START + 10 * MINUTE_MS + 4_000, conversationId: one }),
    itemRow('second', { ...SUCCEEDED, outcome: 'limit_reached', conversationId: other }),
    sandboxRow(box, { createdAt: START + 1_000, status: 'MISSING' }),
    conversationRow(one, { ...rested, key: 'first' }),
    conversationRow(other, { ...rested, key: 'second', executionStatus: 'PAUSED' }),
  ]);
  const event = (id: string, kind: string, atMs: number) => ({
    id,
    kind,
    timestamp: new Date(START + atMs).toISOString().replace('Z', ''),
    text: PROMPT,
  });
  const events = [event('e1', 'SystemPromptEvent', 7_000), event('e2', 'MessageEvent', 8_000)];
  await store.events.append(one, events, START);
  const call = { sessionId: one, promptTokens: 100, completionTokens: 2, cost: nanoUsd(617) };
  await store.spend.write(Array.from({ length: CALLS }, (_, at) => spendRow(`call-${at}`, call)));
  await store.close();
  return fakeShell({ cwd, env: {} });
}

async function parley(shell: FakeShell, ...args: readonly string[]): Promise<FakeShell> {
  const again = fakeShell({ cwd: shell.cwd, env: {} });
  expect(await runCli(['simulate', ...args], again), again.stderr.text).toBe(0);
  return again;
}

describe('parley simulate --record', () => {
  it('writes what the run took, without a text of it', async () => {
    const shell = await parley(await withRun(), '--record', RUN, '--out', 'r.json');
    const text = readFileSync(path.join(shell.cwd, 'r.json'), 'utf8');
    expect(JSON.parse(text)).toEqual({
      kind: 'recording',
      format: 1,
      job: 'demo',
      planHash: demoPlan().hash,
      bootsMs: [6_000],
      stopsMs: [],
      handoversMs: [],
      starts: { asked: 2, failed: 0 },
      conversations: [
        {
          key: 'first',
          attempts: 1,
          workMs: 10 * MINUTE_MS - 8_000,
          outcome: 'FINISHED',
          afterMs: 4_000,
          checkPassed: null,
          inputTokens: CALLS * 100,
          outputTokens: CALLS * 2,
          costNanoUsd: 617_284,
          resumes: 0,
        },
        expect.objectContaining({ key: 'second', workMs: null, outcome: null, inputTokens: null }),
      ],
    });
    expect(text).not.toContain(PROMPT);
    expect(shell.stdout.text).toMatch(/^demo: 2 recorded, 1 of them exactly\nboot: p50 6s, /);
    expect(shell.stdout.text).toContain('1 of 2: did not come to rest by itself');
  });

  it('prints its figures as a record', async () => {
    const [, record] = recordsOf(await parley(await withRun(), '--record', RUN, '--json'));
    expect(record).toMatchObject({
      type: 'recording',
      conversations: 2,
      boot_ms: { p50: 6_000 },
      cost_nano_usd: { max: 617_284 },
    });
  });
});

describe('parley simulate --replay', () => {
  it('plays a file, a run, or what it has just recorded, all the same', async () => {
    const shell = await withRun();
    await parley(shell, '--record', RUN, '--out', 'r.json');
    const fromFile = await parley(shell, 'job.yaml', '--replay', 'r.json', '--json');
    expect(fromFile.stderr.text).toContain('replaying demo: 1 as recorded, 1 from what the others took');
    const first = recordsOf(fromFile).find(({ key }) => key === 'first');
    expect(first).toMatchObject({ outcome: 'succeeded', cost_nano_usd: 617_284 });
    const [starting, working, ended] = first?.['stretches'] as { from_ms: number; as: string }[];
    expect([starting?.as, working?.as, ended?.as]).toEqual(['starting', 'working', 'ended']);
    expect((working?.from_ms ?? 0) - (starting?.from_ms ?? 0)).toBe(6_000);
    expect((ended?.from_ms ?? 0) - (working?.from_ms ?? 0)).toBe(10 * MINUTE_MS - 8_000 + 4_000);
    const fromRun = await parley(shell, 'job.yaml', '--replay', RUN, '--json');
    const atOnce = await parley(shell, 'job.yaml', '--record', RUN, '--json');
    expect(fromRun.stdout.text).toBe(fromFile.stdout.text);
    expect(atOnce.stdout.text).toBe(fromFile.stdout.text);
    const sweep = await parley(
      shell,
      'job.yaml',
      '--replay',
      'r.json',
      '--sweep',
      'admission.concurrency=1,2',
    );
    expect(sweep.stdout.text.split('\n')).toHaveLength(6);
  });

  it.each([
    ['--replay', 'missing.json', 'there is no such file'],
    ['--replay', 'job.yaml', 'it is not JSON'],
    ['--replay', 'other.json', 'the file'],
    ['--replay', 'no-such-run', 'there is no run of this id'],
    ['--record', 'no-such-run', 'there is no run of this id'],
  ])('refuses %s %s', async (flag, source, message) => {
    const shell = await withRun();
    writeFileSync(path.join(shell.cwd, 'other.json'), '{"kind":"recording","format":2}');
    expect(await runCli(['simulate', 'job.yaml', flag, source], shell)).toBe(2);
    expect(shell.stderr.text).toContain(message.replace('the file', 'format: '));
  });

  it('knows no run where nothing ever ran', async () => {
    const cwd = tempDir();
    const shell = fakeShell({ cwd, env: {} });
    expect(await runCli(['simulate', '--record', RUN], shell)).toBe(2);
    expect(shell.stderr.text).toContain('there is no run of this id');
  });
});
